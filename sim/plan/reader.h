// Reads the keys of one table of a scenario or plan file into typed members: ConfigTable for plain data.
//
// Contract: read() leaves the member as it is where a scenario does not have the key; a plan file has every
// key.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "plan/fields.h"
#include "plan/names.h"

namespace headroom {

enum class Form : uint8_t {
    scenario,  // keys may be absent; sizes may be written with suffixes
    plan,      // every key is there, and says its unit ("chunk_tokens")
};

template <class T>
Result<void> read_value(const ConfigValue& value, T& out) {
    if constexpr (std::is_enum_v<T> && !std::is_same_v<T, Dtype>) {
        std::vector<std::string> known;
        for (const auto& entry : names_of<T>()) known.emplace_back(entry.second);
        if (!value.is_string()) return value.wrong(one_of(known));
        HEADROOM_TRY(const std::string name, value.as<std::string>());
        HEADROOM_TRY(out, parse_name<T>(name, value.place()));
    } else if constexpr (std::is_same_v<T, uint64_t>) {
        HEADROOM_TRY(const int64_t number, value.as<int64_t>());
        if (number < 0) return value.wrong("a whole number, 0 or more");
        out = static_cast<uint64_t>(number);
    } else {
        HEADROOM_TRY(out, value.as<T>());
    }
    return {};
}

// A number that a Range bounds, as a double.
template <class T>
double magnitude(const T& value) {
    if constexpr (std::is_same_v<T, Bytes> || std::is_same_v<T, Tokens>) {
        return static_cast<double>(value.count());
    } else {
        return static_cast<double>(value);
    }
}

class TableReader {
public:
    TableReader(ConfigTable table, Form form) : table_(std::move(table)), form_(form) {}
    // Error: the value is no table.
    static Result<TableReader> open(const ConfigValue& value, Form form) {
        return value.as<ConfigTable>().map([form](ConfigTable t) { return TableReader(std::move(t), form); });
    }

    Form form() const { return form_; }
    std::string place(const std::string& key) const { return table_.place(key); }
    Result<ConfigValue> need(const std::string& key) { return table_.need(key); }
    // Empty where a scenario does not have the key. Error: a plan file does not.
    Result<std::optional<ConfigValue>> find(const std::string& key) {
        if (form_ == Form::scenario) return table_.find(key);
        return table_.need(key).map([](ConfigValue v) { return std::optional(std::move(v)); });
    }
    // The same for a key that a plan file may leave out, too.
    std::optional<ConfigValue> find_optional(const std::string& key) { return table_.find(key); }
    // A table below this one.
    Result<std::optional<TableReader>> table(const std::string& key) {
        HEADROOM_TRY(const std::optional<ConfigValue> value, find(key));
        if (!value) return std::optional<TableReader>();
        return open(*value, form_).map([](TableReader t) { return std::optional(std::move(t)); });
    }

    template <class T>
    Result<void> read(const std::string& key, T& out) {
        HEADROOM_TRY(const std::optional<ConfigValue> value, find(key));
        return value ? read_value(*value, out) : Result<void>{};
    }
    // The same; a number outside `range` is an Error.
    template <class T>
    Result<void> read(const std::string& key, T& out, const Range& range) {
        HEADROOM_CHECK(read(key, out));
        if constexpr (!std::is_same_v<T, std::string> && !std::is_same_v<T, bool>) {
            const double number = magnitude(out);
            if (!(number >= range.low && number <= range.high)) {
                return fail(place(key), fmt::format("{:.15g}", number),
                            fmt::format("{:.15g} to {:.15g}", range.low, range.high));
            }
        }
        return {};
    }
    void allow(const std::string& key) { table_.allow(key); }
    // Error: a key that nobody asked for.
    Result<void> finish() const { return table_.finish(); }

private:
    ConfigTable table_;
    Form form_;
};

}  // namespace headroom
