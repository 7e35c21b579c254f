#include "timeline/json_fields.h"

#include <vector>

#include "base/text.h"

namespace headroom {

tl::unexpected<Error> not_json(std::string where, simdjson::error_code code) {
    return fail(std::move(where), fmt::format("not valid JSON ({})", simdjson::error_message(code)),
                "the text of a trace file (docs/timeline-format.md)");
}

std::string at_key(std::string_view where, std::string_view key) {
    return key.empty() ? std::string(where) : fmt::format("{}, key '{}'", where, key);
}

std::string found_text(ondemand::value& value) {
    constexpr size_t kLongest = 40;
    std::string_view token = value.raw_json_token();
    while (!token.empty() &&
           (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t')) {
        token.remove_suffix(1);
    }
    if (token.empty()) return "nothing";
    if (token[0] == '{') return "an object";
    if (token[0] == '[') return "a list";
    if (token.size() <= kLongest) return std::string(token);
    size_t size = kLongest;
    while (size > 0 && (static_cast<unsigned char>(token[size]) & 0xC0) == 0x80) --size;  // whole characters
    return std::string(token.substr(0, size)) + "...";
}

tl::unexpected<Error> unknown_key(std::string_view where, std::string_view key,
                                  std::span<const std::string> known) {
    std::string found = "an unknown key";
    if (const std::string near = nearest(key, known); !near.empty())
        found += fmt::format("; nearest known: '{}'", near);
    return fail(at_key(where, key), std::move(found), one_of(known));
}

Result<int64_t> read_integer(ondemand::value value, std::string_view where, std::string_view key,
                             int64_t least, int64_t most) {
    int64_t number = 0;
    const auto error = value.get_int64().get(number);
    if (error || number < least || number > most) {
        return fail(at_key(where, key), found_text(value),
                    fmt::format("a whole number from {} to {}", least, most));
    }
    return number;
}

Result<std::string> read_string(ondemand::value value, std::string_view where, std::string_view key) {
    std::string_view text;
    if (const auto error = value.get_string().get(text); error) {
        return fail(at_key(where, key), found_text(value), "a text in quotes");
    }
    return std::string(text);
}

Result<ondemand::object> read_object(ondemand::value value, std::string_view where, std::string_view key) {
    ondemand::object object;
    if (const auto error = value.get_object().get(object); error) {
        return fail(at_key(where, key), found_text(value), "an object, {...}");
    }
    return object;
}

Result<ondemand::array> read_array(ondemand::value value, std::string_view where, std::string_view key) {
    ondemand::array array;
    if (const auto error = value.get_array().get(array); error) {
        return fail(at_key(where, key), found_text(value), "a list, [...]");
    }
    return array;
}

}  // namespace headroom
