// Checked access to simdjson's on-demand values: every failure becomes an Error that names file and key.
// Private to the room; values are read once and in order, as simdjson asks.
#pragma once

#include <fmt/format.h>
#include <simdjson.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headroom {

namespace ondemand = simdjson::ondemand;

tl::unexpected<Error> not_json(std::string where, simdjson::error_code code);
// "key 'a.b'" behind the place.
std::string at_key(std::string_view where, std::string_view key);
// What stands there, shortened: for messages.
std::string found_text(ondemand::value& value);
// Error of a key that is not among `known`, with the nearest one.
tl::unexpected<Error> unknown_key(std::string_view where, std::string_view key,
                                  std::span<const std::string> known);

// The characters between the quotes as they stand in the file. Names of the format have no escapes, so a name
// that needs decoding is none of them.
inline std::string_view undecoded(ondemand::raw_json_string text) {
    const char* begin = text.raw();
    const char* end = begin;
    while (*end != '"') ++end;
    return {begin, static_cast<size_t>(end - begin)};
}

// `key` may be empty where `where` already says it.
Result<int64_t> read_integer(ondemand::value value, std::string_view where, std::string_view key,
                             int64_t least = 0, int64_t most = INT64_MAX);
Result<std::string> read_string(ondemand::value value, std::string_view where, std::string_view key);
Result<ondemand::object> read_object(ondemand::value value, std::string_view where, std::string_view key);
Result<ondemand::array> read_array(ondemand::value value, std::string_view where, std::string_view key);

// visit(undecoded name, value) -> Result<void> for every field, in order.
template <class Visit>
Result<void> each_field(ondemand::object object, std::string_view where, Visit&& visit) {
    for (auto item : object) {
        ondemand::field field;
        if (const auto error = std::move(item).get(field); error) return not_json(std::string(where), error);
        HEADROOM_CHECK(visit(undecoded(field.key()), field.value()));
    }
    return {};
}

// visit(value) -> Result<void> for every element, in order.
template <class Visit>
Result<void> each_element(ondemand::array array, std::string_view where, Visit&& visit) {
    for (auto item : array) {
        ondemand::value value;
        if (const auto error = std::move(item).get(value); error) return not_json(std::string(where), error);
        HEADROOM_CHECK(visit(value));
    }
    return {};
}

}  // namespace headroom
