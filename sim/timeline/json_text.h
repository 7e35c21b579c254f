// JSON text written piece by piece into a buffer that is handed on when it is full. Private to the room.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headroom {

// Takes the next part of the text; false stops the writer.
using TextSink = std::function<bool(std::string_view)>;

class JsonText {
public:
    explicit JsonText(TextSink sink) : sink_(std::move(sink)) { buffer_.reserve(2 * kPart); }

    JsonText& raw(std::string_view text) {
        buffer_.append(text);
        return *this;
    }
    JsonText& integer(int64_t value) {
        const fmt::format_int digits(value);
        buffer_.append(digits.data(), digits.size());
        return *this;
    }
    // Microseconds with three decimals: exact. ns >= 0.
    JsonText& micros(int64_t ns) {
        integer(ns / 1000);
        const auto rest = static_cast<int>(ns % 1000);
        const char decimals[4] = {'.', static_cast<char>('0' + rest / 100),
                                  static_cast<char>('0' + rest / 10 % 10),
                                  static_cast<char>('0' + rest % 10)};
        buffer_.append(decimals, 4);
        return *this;
    }
    // Quoted, with what JSON asks to be escaped.
    JsonText& string(std::string_view text);
    // `"key":`
    JsonText& key(std::string_view name) { return string(name).raw(":"); }

    // Hands the text on once a part is full. False: the sink refused it.
    bool spill() { return buffer_.size() < kPart || flush(); }
    bool flush();

private:
    static constexpr size_t kPart = size_t{1} << 18;
    TextSink sink_;
    std::string buffer_;
};

}  // namespace headroom
