#include <array>
#include <string>

#include "base/text.h"

// In integers throughout, so that the same value prints the same digits everywhere.
namespace headroom {
namespace {

uint64_t magnitude(int64_t value) {
    return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// a / b, halves up; b > 0, and the caller keeps a + b / 2 within range.
uint64_t rounded(uint64_t a, uint64_t b) {
    return (a + b / 2) / b;
}

std::string two_digits(uint64_t n) {
    return {static_cast<char>('0' + n / 10 % 10), static_cast<char>('0' + n % 10)};
}

// The value in hundredths of 2^shift, halves up.
uint64_t hundredths(uint64_t value, int shift) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>(((Wide{value} * 100 << 1 >> shift) + 1) >> 1);
}

std::string time_of(uint64_t ns) {
    constexpr uint64_t kMinute = 60'000'000'000;
    constexpr uint64_t kTenth = 100'000'000;
    if (ns < 1000) return std::to_string(ns) + " ns";
    if (ns < 2 * kMinute) {
        struct Scale {
            uint64_t ns;
            const char* unit;
            uint64_t limit;  // what reaches it is said in the next unit
        };
        for (const Scale& s :
             {Scale{1000, " us", 1000}, Scale{1'000'000, " ms", 1000}, Scale{1'000'000'000, " s", 60}}) {
            if (const uint64_t n = rounded(ns * 100, s.ns); n < 1000)
                return std::to_string(n / 100) + "." + two_digits(n) + s.unit;
            if (const uint64_t n = rounded(ns * 10, s.ns); n < 1000 && n < 10 * s.limit)
                return std::to_string(n / 10) + "." + std::to_string(n % 10) + s.unit;
            if (const uint64_t n = rounded(ns, s.ns); n < s.limit && s.limit > 100)
                return std::to_string(n) + s.unit;
        }
    }
    if (const uint64_t n = rounded(ns, kTenth); n < 36000)
        return std::to_string(n / 600) + " min " + std::to_string(n % 600 / 10) + "." +
               std::to_string(n % 10) + " s";
    const uint64_t minutes = rounded(ns, kMinute);
    return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

}  // namespace

std::string format_bytes(Bytes bytes) {
    constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    const uint64_t value = magnitude(bytes.count());
    const std::string sign = bytes.count() < 0 ? "-" : "";
    if (value < 1024) return sign + std::to_string(value) + " B";
    for (size_t i = 0; i < kUnits.size(); ++i) {
        const int shift = static_cast<int>(10 * (i + 1));
        // What would round to 1024.00 is said in the next unit.
        const uint64_t n = hundredths(value, shift);
        if (n >= 102400 && i + 1 < kUnits.size()) continue;
        const std::string text = sign + std::to_string(n / 100);
        const bool is_whole = (value & ((uint64_t{1} << shift) - 1)) == 0;
        return text + (is_whole ? "" : "." + two_digits(n)) + " " + kUnits.at(i);
    }
    return {};
}

std::string format_time(Nanoseconds time) {
    return (time.count() < 0 ? "-" : "") + time_of(magnitude(time.count()));
}

std::string format_tokens(Tokens tokens) {
    struct Unit {
        int64_t factor;
        const char* suffix;
    };
    const int64_t n = tokens.count();
    if (n != 0)
        for (const Unit& u : {Unit{kTiB, "Ti"}, Unit{kGiB, "Gi"}, Unit{kMiB, "Mi"}, Unit{kKiB, "Ki"}})
            if (n % u.factor == 0) return std::to_string(n / u.factor) + u.suffix;
    return std::to_string(n);
}

std::string format_integer(int64_t value) {
    std::string text = std::to_string(value);
    const size_t first = value < 0 ? 1 : 0;
    for (size_t i = text.size(); i > first + 3;) text.insert(i -= 3, 1, ',');
    return text;
}

}  // namespace headroom
