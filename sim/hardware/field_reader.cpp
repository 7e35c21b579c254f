#include "hardware/field_reader.h"

#include <algorithm>

#include "base/text.h"

namespace headroom {

std::optional<ConfigValue> FieldReader::find(const char* key) {
    std::optional<ConfigValue> value = table_.find(key);
    if (!value && required_)
        keep(fail(table_.place(), "no key '" + table_.dotted(key) + "'", "it is required").value());
    return value;
}

void FieldReader::text(const char* key, std::string& out) {
    const std::optional<ConfigValue> value = find(key);
    if (!value) return;
    Result<std::string> read = value->as<std::string>();
    if (!read) return keep(read.error());
    if (read->empty()) return keep(value->wrong("a text that is not empty").value());
    out = std::move(*read);
}

void FieldReader::choice(const char* key, const std::vector<std::string>& allowed, size_t& out) {
    const std::optional<ConfigValue> value = find(key);
    if (!value) return;
    const Result<std::string> read = value->as<std::string>();
    const auto at = read ? std::find(allowed.begin(), allowed.end(), *read) : allowed.end();
    if (at == allowed.end()) return keep(value->wrong(one_of(allowed)).value());
    out = static_cast<size_t>(at - allowed.begin());
}

void FieldReader::flag(const char* key, bool& out) {
    const std::optional<ConfigValue> value = find(key);
    if (!value) return;
    const Result<bool> read = value->as<bool>();
    if (!read) return keep(read.error());
    out = *read;
}

void FieldReader::number(const char* key, double& out, const Bounds& bounds, double unit) {
    const std::optional<ConfigValue> value = find(key);
    if (!value) return;
    const Result<double> read = value->as<double>();
    if (!read || !(*read >= bounds.low && *read <= bounds.high))
        return keep(value->wrong(bounds.text).value());
    out = *read * unit;
}

void FieldReader::whole(const char* key, int64_t& out, const Bounds& bounds) {
    const std::optional<ConfigValue> value = find(key);
    if (!value) return;
    const Result<int64_t> read = value->as<int64_t>();
    const bool inside =
        read && static_cast<double>(*read) >= bounds.low && static_cast<double>(*read) <= bounds.high;
    if (!inside) return keep(value->wrong(bounds.text).value());
    out = *read;
}

void FieldReader::whole(const char* key, int32_t& out, const Bounds& bounds) {
    int64_t wide = out;
    whole(key, wide, bounds);
    out = static_cast<int32_t>(wide);
}

void FieldReader::bytes(const char* key, Bytes& out) {
    constexpr int64_t kMost = 1'000'000'000'000'000;
    const std::optional<ConfigValue> value = find(key);
    if (!value) return;
    const Result<Bytes> read = value->as<Bytes>();
    if (!read) return keep(read.error());
    if (*read < Bytes(1) || *read > Bytes(kMost))
        return keep(value->wrong("at least 1 byte, at most 1e15").value());
    out = *read;
}

void FieldReader::refuse(const char* key, std::string found, std::string allowed) {
    keep(fail(table_.place(key), std::move(found), std::move(allowed)).value());
}

Result<void> FieldReader::finish() {
    HEADROOM_CHECK(table_.finish());
    if (error_) return tl::unexpected<Error>(*error_);
    return {};
}

}  // namespace headroom
