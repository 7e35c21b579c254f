// What people write (TOML, JSON), read key by key with checks. parse_toml (toml.h) and parse_json (json.h)
// give the root; neither parser's headers are needed to use it.
//
//     HEADROOM_TRY(ConfigTable root, parse_toml(text, "h200.toml"));
//     HEADROOM_TRY(const std::string name, root.need<std::string>("name"));
//     HEADROOM_TRY(const Bytes memory, root.get_or("memory", Bytes(80 * kGiB)));
//     HEADROOM_TRY(std::optional<ConfigTable> link, root.get<ConfigTable>("link"));
//     if (link) HEADROOM_CHECK(link->finish());
//     HEADROOM_CHECK(root.finish());
//
// Contract:
//  - Reading never throws and never changes the text's tree; tables and values share it and may outlive the
//  root.
//  - Every Error has where = place(key): "h200.toml:12, key 'link.latency_ns'".
//  - Numbers are finite. null (JSON) reads as absent.
//  - A key that stands twice: the last one counts (JSON); an Error (TOML).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "base/units.h"

namespace headroom {

class ConfigTable;
struct ConfigNode;  // config_node.h: the parsed tree
struct ConfigText;

// One value of the text: where it stands and what it is.
class ConfigValue {
public:
    ConfigValue(std::shared_ptr<const ConfigText> text, const ConfigNode* node, std::string key);

    // "h200.toml:12, key 'link.latency_ns'".
    std::string place() const;
    // "a string 'abc'", "the number 0.5", "a list of 3", "a table", "true", "null"; for Error::found.
    std::string found() const;
    // An Error about this value.
    tl::unexpected<Error> wrong(std::string allowed) const;

    bool is_null() const;
    bool is_string() const;
    bool is_number() const;
    bool is_list() const;
    bool is_table() const;

    // T and what is read as it:
    //   bool, std::string
    //   int64_t, int32_t  a whole number within the type's range (4096.0 too)
    //   double            any number
    //   Tokens            >= 0: a whole number, or a string such as "64Ki"
    //   Bytes             >= 0: a whole number, or a string such as "112GiB"
    //   Nanoseconds       >= 0: a whole number
    //   Dtype             a string, parse_dtype
    //   ConfigTable       a table;  std::vector<T>  a list of any of these;  ConfigValue  itself
    // Error: another type or out of range, with what was found and what is allowed.
    template <class T>
    Result<T> as() const;
    // A share, >= 0: a number, or a string such as "5%".
    Result<double> as_share() const;
    // The items of a list, keys "points[0]", ...; Error if it is no list.
    Result<std::vector<ConfigValue>> items() const;

private:
    friend class ConfigTable;
    friend ConfigText text_of(const ConfigTable& root);
    Result<int64_t> whole(int64_t low, int64_t high, const char* allowed) const;

    std::shared_ptr<const ConfigText> text_;
    const ConfigNode* node_;
    std::string key_;  // dotted; empty for the root
};

// A table of the text. It notes the keys that are asked for, so that finish() can name one that nobody knows.
class ConfigTable {
public:
    explicit ConfigTable(ConfigValue table);  // table.is_table()

    // Empty when the key is absent or null. Cost: the number of keys in the table.
    std::optional<ConfigValue> find(std::string_view key);
    // Error: absent.
    Result<ConfigValue> need(std::string_view key);
    // All keys, in the order of the text, those that stand twice once (JSON keeps the last).
    std::vector<std::string> keys() const;

    template <class T>
    Result<T> need(std::string_view key) {
        HEADROOM_TRY(const ConfigValue value, need(key));
        return value.as<T>();
    }
    template <class T>
    Result<std::optional<T>> get(std::string_view key) {
        const std::optional<ConfigValue> value = find(key);
        if (!value) return std::optional<T>();
        return value->as<T>().map([](T read) { return std::optional<T>(std::move(read)); });
    }
    template <class T>
    Result<T> get_or(std::string_view key, T fallback) {
        const std::optional<ConfigValue> value = find(key);
        return value ? value->as<T>() : Result<T>(std::move(fallback));
    }

    // The place of the table itself, and of one of its keys (of the table where the key is absent).
    std::string place() const { return value_.place(); }
    std::string place(std::string_view key) const;
    // "link.latency_ns": the key with those of the tables around it.
    std::string dotted(std::string_view key) const;
    // Counts a key as known without reading it.
    void allow(std::string_view key);
    // Error: the first key that was neither asked for nor allowed, with the nearest one that was. Cheap.
    Result<void> finish() const;

private:
    friend ConfigText text_of(const ConfigTable& root);
    const ConfigNode* node(std::string_view key) const;

    ConfigValue value_;
    std::vector<std::string> known_;
};

namespace config_detail {
template <class T>
struct Item;
template <class T>
struct Item<std::vector<T>> {
    using type = T;
};
}  // namespace config_detail

template <class T>
Result<T> ConfigValue::as() const {
    using Element = typename config_detail::Item<T>::type;  // T: a type of the list above, or a vector of one
    HEADROOM_TRY(const std::vector<ConfigValue> list, items());
    T out;
    out.reserve(list.size());
    for (const ConfigValue& item : list) {
        HEADROOM_TRY(Element element, item.as<Element>());
        out.push_back(std::move(element));
    }
    return out;
}
template <>
Result<bool> ConfigValue::as() const;
template <>
Result<std::string> ConfigValue::as() const;
template <>
Result<int64_t> ConfigValue::as() const;
template <>
Result<int32_t> ConfigValue::as() const;
template <>
Result<double> ConfigValue::as() const;
template <>
Result<Tokens> ConfigValue::as() const;
template <>
Result<Bytes> ConfigValue::as() const;
template <>
Result<Nanoseconds> ConfigValue::as() const;
template <>
Result<Dtype> ConfigValue::as() const;
template <>
Result<ConfigTable> ConfigValue::as() const;
template <>
Result<ConfigValue> ConfigValue::as() const;

}  // namespace headroom
