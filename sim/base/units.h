// Integer quantities with a unit in their type: Bytes, Tokens, Nanoseconds.
//
// Contract:
//  - The representation is int64_t. Range: Bytes up to 8 EiB, Nanoseconds up to 292 years.
//  - Arithmetic never wraps: overflow throws Overflow, which the library's entry points turn into an Error.
//  - No implicit conversion to or from plain integers; `.count()` and the explicit constructor cross the
//  border.
#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>

namespace headroom {

// Thrown when a quantity leaves int64_t. Only input that is absurdly large can cause it.
class Overflow : public std::overflow_error {
public:
    Overflow() : std::overflow_error("a quantity is larger than 2^63 - 1") {}
};

inline int64_t checked_add(int64_t a, int64_t b) {
    int64_t r = 0;
    if (__builtin_add_overflow(a, b, &r)) throw Overflow();
    return r;
}
inline int64_t checked_sub(int64_t a, int64_t b) {
    int64_t r = 0;
    if (__builtin_sub_overflow(a, b, &r)) throw Overflow();
    return r;
}
inline int64_t checked_mul(int64_t a, int64_t b) {
    int64_t r = 0;
    if (__builtin_mul_overflow(a, b, &r)) throw Overflow();
    return r;
}
// ceil(a / b) for a >= 0, b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b != 0 ? 1 : 0);
}
// The least multiple of `step` that is >= a; a >= 0, step > 0.
inline int64_t round_up(int64_t a, int64_t step) {
    return checked_mul(ceil_div(a, step), step);
}

template <class Tag>
class Quantity {
public:
    constexpr Quantity() = default;
    explicit constexpr Quantity(int64_t count) : count_(count) {}

    constexpr int64_t count() const { return count_; }
    auto operator<=>(const Quantity&) const = default;

    Quantity operator+(Quantity o) const { return Quantity(checked_add(count_, o.count_)); }
    Quantity operator-(Quantity o) const { return Quantity(checked_sub(count_, o.count_)); }
    Quantity operator-() const { return Quantity(checked_sub(0, count_)); }
    Quantity operator*(int64_t k) const { return Quantity(checked_mul(count_, k)); }
    Quantity operator/(int64_t k) const { return Quantity(count_ / k); }
    int64_t operator/(Quantity o) const { return count_ / o.count_; }
    Quantity operator%(Quantity o) const { return Quantity(count_ % o.count_); }
    Quantity& operator+=(Quantity o) { return *this = *this + o; }
    Quantity& operator-=(Quantity o) { return *this = *this - o; }
    friend Quantity operator*(int64_t k, Quantity q) { return q * k; }

private:
    int64_t count_ = 0;
};

using Bytes = Quantity<struct BytesTag>;
using Tokens = Quantity<struct TokensTag>;
using Nanoseconds = Quantity<struct NanosecondsTag>;

inline constexpr int64_t kKiB = int64_t{1} << 10;
inline constexpr int64_t kMiB = int64_t{1} << 20;
inline constexpr int64_t kGiB = int64_t{1} << 30;
inline constexpr int64_t kTiB = int64_t{1} << 40;

}  // namespace headroom
