#include "base/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace headroom {
namespace {

__extension__ using Wide = unsigned __int128;

struct Unit {
    std::string_view suffix;
    int64_t factor;
};

constexpr int64_t kThousand = 1000, kMillion = 1000 * kThousand, kBillion = 1000 * kMillion,
                  kTrillion = 1000 * kBillion;
constexpr std::array kCountUnits{Unit{"", 1},         Unit{"K", kThousand}, Unit{"M", kMillion},
                                 Unit{"G", kBillion}, Unit{"T", kTrillion}, Unit{"Ki", kKiB},
                                 Unit{"Mi", kMiB},    Unit{"Gi", kGiB},     Unit{"Ti", kTiB}};
constexpr std::array kByteUnits{Unit{"", 1},          Unit{"B", 1},         Unit{"KB", kThousand},
                                Unit{"MB", kMillion}, Unit{"GB", kBillion}, Unit{"TB", kTrillion},
                                Unit{"KiB", kKiB},    Unit{"MiB", kMiB},    Unit{"GiB", kGiB},
                                Unit{"TiB", kTiB}};
constexpr const char* kCountForms = "a whole number such as 4096, 64Ki (65536) or 1M (1000000)";
constexpr const char* kTokenForms = "a whole number of tokens such as 4096, 64Ki (65536) or 1M (1000000)";
constexpr const char* kByteForms = "a whole number of bytes such as 1024, 512MiB, 112GiB or 80GB";

std::string quoted(std::string_view text) {
    constexpr size_t kShown = 60;
    if (text.size() <= kShown) return "'" + std::string(text) + "'";
    return "'" + std::string(text.substr(0, kShown)) + "...'";
}

std::string_view digits_at(std::string_view text) {
    return text.substr(0, text.find_first_not_of("0123456789"));
}

// Exact: the fraction is kept in decimal digits, never in floating point. Optional blanks stand around the
// number and before its unit.
Result<int64_t> parse_quantity(std::string_view text, std::span<const Unit> units, const std::string& where,
                               const char* allowed) {
    constexpr size_t kMaxWholeDigits = 19, kMaxFractionDigits = 18;
    const auto wrong = [&](const char* what) { return fail(where, quoted(text) + what, allowed); };
    constexpr const char* kTooLarge = " is larger than 2^63 - 1";

    std::string_view rest = text;
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    while (rest.ends_with(' ')) rest.remove_suffix(1);
    if (rest.starts_with('-')) return wrong(" is negative or not a number");

    std::string_view whole = digits_at(rest);
    rest.remove_prefix(whole.size());
    if (whole.empty()) return wrong(" is not a number");
    std::string_view fraction;
    if (rest.starts_with('.')) {
        fraction = digits_at(rest.substr(1));
        if (fraction.empty()) return wrong(" has no digits after the point");
        rest.remove_prefix(1 + fraction.size());
    }
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    const Unit* unit = nullptr;
    for (const Unit& u : units)
        if (u.suffix == rest) unit = &u;
    if (unit == nullptr) return fail(where, quoted(text) + " has an unknown unit, " + quoted(rest), allowed);

    while (whole.starts_with('0')) whole.remove_prefix(1);
    while (fraction.ends_with('0')) fraction.remove_suffix(1);
    if (whole.size() > kMaxWholeDigits) return wrong(kTooLarge);
    if (fraction.size() > kMaxFractionDigits) return wrong(" has too many digits after the point");
    Wide value = 0, part = 0, scale = 1;
    for (const char c : whole) value = value * 10 + static_cast<unsigned>(c - '0');
    for (const char c : fraction) {
        part = part * 10 + static_cast<unsigned>(c - '0');
        scale *= 10;
    }
    value *= static_cast<Wide>(unit->factor);
    part *= static_cast<Wide>(unit->factor);
    if (part % scale != 0) return wrong(" is not a whole number");
    value += part / scale;
    if (value > static_cast<Wide>(INT64_MAX)) return wrong(kTooLarge);
    return static_cast<int64_t>(value);
}

}  // namespace

Result<int64_t> parse_count(std::string_view text, const std::string& where) {
    return parse_quantity(text, kCountUnits, where, kCountForms);
}

Result<Tokens> parse_tokens(std::string_view text, const std::string& where) {
    return parse_quantity(text, kCountUnits, where, kTokenForms).map([](int64_t n) { return Tokens(n); });
}

Result<Bytes> parse_bytes(std::string_view text, const std::string& where) {
    return parse_quantity(text, kByteUnits, where, kByteForms).map([](int64_t n) { return Bytes(n); });
}

Result<double> parse_share(std::string_view text, const std::string& where) {
    std::string_view number = text;
    const bool percent = number.ends_with('%');
    if (percent) number.remove_suffix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    const bool is_number =
        error == std::errc() && end == number.data() + number.size() && std::isfinite(value);
    if (!is_number || std::signbit(value))
        return fail(where, quoted(text) + (is_number ? " is negative" : " is not a share"),
                    "a share such as 5% or 0.05, 0 or more");
    return percent ? value / 100 : value;
}

}  // namespace headroom
