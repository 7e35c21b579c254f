// Reads the keys of one table of a hardware file into plain fields. A room-internal header.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/table.h"

namespace headroom {

// Closed bounds of a number, and how an error names them. They also keep the cost model's arithmetic finite.
struct Bounds {
    double low = 0, high = 0;
    const char* text = "";
};
inline constexpr Bounds kAboveZero{1e-9, 1e9, "a number above 0, at most 1e9"};
inline constexpr Bounds kFromZero{0, 1e12, "a number from 0 to 1e12"};
inline constexpr Bounds kShare{1e-6, 1, "a number above 0, at most 1"};
inline constexpr Bounds kFactor{1, 1000, "a number from 1 to 1000"};
inline constexpr Bounds kBlockFactor{0.01, 100, "a number from 0.01 to 100"};
// More than the datasheet's bandwidth: what stays in the cache.
inline constexpr Bounds kEfficiency{1e-4, 10, "a number from 0.0001 to 10"};
inline constexpr Bounds kNanoseconds{0, 1e9, "a whole number from 0 to 1000000000"};
inline constexpr Bounds kSize{1, 1 << 24, "a whole number from 1 to 16777216"};

// Contract: every call reads one key; the first failure is kept and later calls go on, so that finish() knows
// all keys and can name an unknown one before a missing one (which is often the same key misspelt).
class FieldReader {
public:
    explicit FieldReader(ConfigTable table) : table_(std::move(table)) {}

    void text(const char* key, std::string& out);
    // One of `allowed`; `out` is its index.
    void choice(const char* key, const std::vector<std::string>& allowed, size_t& out);
    void flag(const char* key, bool& out);
    // The value times `unit`.
    void number(const char* key, double& out, const Bounds& bounds, double unit = 1);
    void whole(const char* key, int64_t& out, const Bounds& bounds);
    void whole(const char* key, int32_t& out, const Bounds& bounds);
    // At least 1 byte, at most 1e15.
    void bytes(const char* key, Bytes& out);
    // A table; `read` gets a FieldReader of it and need not call finish().
    template <class Read>
    void table(const char* key, Read&& read) {
        if (const std::optional<ConfigValue> value = find(key)) nested(*value, read);
    }
    // A list of tables, each read into a T; empty lists are errors.
    template <class T, class Read>
    void list(const char* key, std::vector<T>& out, Read&& read) {
        const std::optional<ConfigValue> value = find(key);
        if (!value) return;
        const Result<std::vector<ConfigValue>> items = value->items();
        if (!items) return keep(items.error());
        if (items->empty()) return keep(value->wrong("at least one entry").value());
        for (const ConfigValue& item : *items) {
            T entry;
            nested(item, [&](FieldReader& fields) { read(fields, entry); });
            out.push_back(std::move(entry));
        }
    }

    // The keys read next may be absent: their fields then keep what they hold.
    FieldReader& optional() {
        required_ = false;
        return *this;
    }
    FieldReader& required() {
        required_ = true;
        return *this;
    }
    // Keeps an error of the caller's own about `key`.
    void refuse(const char* key, std::string found, std::string allowed);
    bool ok() const { return !error_; }
    Result<void> finish();

private:
    std::optional<ConfigValue> find(const char* key);
    void keep(Error error) {
        if (!error_) error_ = std::move(error);
    }
    template <class Read>
    void nested(const ConfigValue& value, Read&& read) {
        Result<ConfigTable> inner = value.as<ConfigTable>();
        if (!inner) return keep(inner.error());
        FieldReader fields(std::move(*inner));
        read(fields);
        if (const Result<void> done = fields.finish(); !done) keep(done.error());
    }

    ConfigTable table_;
    bool required_ = true;
    std::optional<Error> error_;
};

}  // namespace headroom
