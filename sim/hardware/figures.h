// Keys of a TOML table as text. A room-internal header.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/units.h"

namespace headroom {

// Five digits: what a measurement is worth, and short enough that reading and writing again changes nothing.
inline std::string figure(double value) {
    return fmt::format("{:.5g}", value);
}
// A basic string of TOML.
inline std::string toml_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out + '"';
}
// "256KiB" where the bytes are whole in a unit, else the number: what parse_bytes reads as the same.
inline std::string toml_bytes(int64_t bytes) {
    if (bytes > 0 && bytes % kGiB == 0) return fmt::format("\"{}GiB\"", bytes / kGiB);
    if (bytes > 0 && bytes % kMiB == 0) return fmt::format("\"{}MiB\"", bytes / kMiB);
    if (bytes > 0 && bytes % kKiB == 0) return fmt::format("\"{}KiB\"", bytes / kKiB);
    return std::to_string(bytes);
}

// An inline table: { a = 1, b = "x" }.
class InlineTable {
public:
    template <class T>
    InlineTable& whole(const char* key, T value) {
        return add(key, std::to_string(value));
    }
    InlineTable& number(const char* key, double value) { return add(key, figure(value)); }
    // Only where it was measured.
    InlineTable& known(const char* key, double value) { return value > 0 ? number(key, value) : *this; }
    InlineTable& text(const char* key, std::string_view value) { return add(key, toml_text(value)); }
    InlineTable& flag(const char* key, bool value) { return add(key, value ? "true" : "false"); }
    InlineTable& bytes(const char* key, int64_t value) { return add(key, toml_bytes(value)); }
    std::string done() const { return "{ " + keys_ + " }"; }

private:
    InlineTable& add(const char* key, std::string_view value) {
        if (!keys_.empty()) keys_ += ", ";
        keys_ += fmt::format("{} = {}", key, value);
        return *this;
    }
    std::string keys_;
};

}  // namespace headroom
