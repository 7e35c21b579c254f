// The arithmetic of one parameter's update, for the CUDA kernel and for its CPU twin: the same functions, so
// that both give the same bits (optimizer.cu is compiled without fused multiply-adds).
//
// Random bits are a hash of the step's seed and the parameter's index: no state, any order, any cut.
//
// 8-bit states (Dettmers et al., arXiv 2110.02861: blocks of values that share a scale, codes denser towards
// zero). Here a code is a small floating-point number instead of an entry of their table, so that it needs no
// look-up:
//  - first moment: sign, 3 bits of exponent, 4 of fraction; u from 2^-10 to 31/16, value = scale u;
//  - second moment: 3 bits of exponent, 5 of fraction of its square root; u from 2^-11 to 63/32, value =
//  scale
//    u^2. What is not zero never becomes code 0: a second moment of zero beside a first one that is not would
//    divide by epsilon alone. So the update stays finite, too small at most, where a value lies 2^24 under
//    the block's largest.
// Codes are rounded stochastically, without bias in the value: to nearest, a decay of 1 to 5 % a step would
// be less than half a code and never happen.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/optimizer.h"

#ifdef __CUDACC__
#define HEADROOM_BOTH __host__ __device__ inline
#else
#define HEADROOM_BOTH inline
#endif

namespace headroom::engine::kernels {

HEADROOM_BOTH uint32_t bits_of(float v) {
#ifdef __CUDA_ARCH__
    return __float_as_uint(v);
#else
    return std::bit_cast<uint32_t>(v);
#endif
}
HEADROOM_BOTH float float_of(uint32_t bits) {
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    return std::bit_cast<float>(bits);
#endif
}

// splitmix64's mix (Steele, Lea, Flood, 2014).
HEADROOM_BOTH uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}
// Three independent numbers of 16 bits each.
struct Noise {
    uint32_t weight, first, second;
};
inline constexpr uint64_t kSeedStep = 0x9e3779b97f4a7c15ull;
HEADROOM_BOTH Noise noise_of(uint64_t seed, int64_t index) {
    const uint64_t z = mix(seed + (static_cast<uint64_t>(index) + 1) * kSeedStep);
    return {static_cast<uint32_t>(z >> 48), static_cast<uint32_t>(z >> 32) & 0xffffu,
            static_cast<uint32_t>(z >> 16) & 0xffffu};
}

// bf16 is the upper half of fp32. Up with the probability of what is cut off: means stay, updates below half
// a step of bf16 are not lost. Source: Gupta et al., arXiv 1502.02551.
HEADROOM_BOTH uint16_t bf16_stochastic(float v, uint32_t noise) {
    const uint32_t bits = bits_of(v);
    if ((bits & 0x7f800000u) == 0x7f800000u)  // infinite; not a number stays none
        return static_cast<uint16_t>((bits >> 16) | ((bits & 0x7fffffu) != 0 ? 0x40u : 0u));
    return static_cast<uint16_t>((bits + noise) >> 16);
}
HEADROOM_BOTH uint16_t bf16_nearest(float v) {
    const uint32_t bits = bits_of(v);
    if ((bits & 0x7f800000u) == 0x7f800000u) return bf16_stochastic(v, 0);
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// The value u of a code of `kFraction` fraction bits and 3 exponent bits, and the code at or below u > 0 with
// the rest in steps of that code.
template <int kFraction>
HEADROOM_BOTH float code_value(uint32_t code) {
    constexpr uint32_t ones = 1u << kFraction;
    const uint32_t exponent = code >> kFraction, fraction = code & (ones - 1);
    // 2^(exponent - 7), or 2^-6 below the first.
    const float unit = float_of((127 + (exponent == 0 ? 1 : exponent) - 7) << 23);
    return unit * (static_cast<float>(exponent == 0 ? fraction : fraction + ones) / static_cast<float>(ones));
}
template <int kFraction>
HEADROOM_BOTH uint32_t code_below(float u, float& rest) {
    constexpr uint32_t ones = 1u << kFraction, last = 8 * ones - 1;
    const auto exponent = static_cast<int>(bits_of(u) >> 23) - 127;  // floor of log2
    if (exponent > 0) {
        rest = 0;
        return last;
    }
    const int e = exponent < -6 ? -6 : exponent;
    const float steps = u * float_of(static_cast<uint32_t>(127 - e) << 23) * static_cast<float>(ones);
    const auto whole = static_cast<uint32_t>(steps);  // ones to 2 ones - 1, or less than ones below 2^-6
    rest = steps - static_cast<float>(whole);
    const uint32_t code = static_cast<uint32_t>(e + 6) * ones + whole;
    return code < last ? code : last;
}

inline constexpr float kFirstMost = 31.0f / 16, kSecondMost = 63.0f / 32;

HEADROOM_BOTH float first_scale(float largest) {
    return largest / kFirstMost;
}
HEADROOM_BOTH float first_value(uint8_t code, float scale) {
    const float u = code_value<4>(code & 127u) * scale;
    return (code & 128u) != 0 ? -u : u;
}
HEADROOM_BOTH uint8_t first_code(float value, float scale, uint32_t noise) {
    const float u = fabsf(value) / scale;
    if (!(u > 0)) return 0;
    float rest;
    uint32_t code = code_below<4>(u, rest);
    if (code < 127 && static_cast<float>(noise) < rest * 65536.0f) ++code;
    return static_cast<uint8_t>(code | (value < 0 ? 128u : 0u));
}
HEADROOM_BOTH float second_scale(float largest) {
    return largest / (kSecondMost * kSecondMost);
}
HEADROOM_BOTH float second_value(uint8_t code, float scale) {
    const float u = code_value<5>(code);
    return u * u * scale;
}
HEADROOM_BOTH uint8_t second_code(float value, float scale, uint32_t noise) {
    const float square = value / scale;
    if (!(square > 0)) return 0;
    float rest;
    uint32_t code = code_below<5>(sqrtf(square), rest);
    if (code < 255) {
        const float low = code_value<5>(code), high = code_value<5>(code + 1);
        const float share = (square - low * low) / (high * high - low * low);
        if (static_cast<float>(noise) < share * 65536.0f) ++code;
    }
    return static_cast<uint8_t>(code > 0 ? code : 1);
}

template <class T>
HEADROOM_BOTH T load(const void* values, Format format, int64_t i) {
    if (format == Format::fp64) return static_cast<T>(static_cast<const double*>(values)[i]);
    if (format == Format::fp32) return static_cast<T>(static_cast<const float*>(values)[i]);
    return static_cast<T>(float_of(static_cast<uint32_t>(static_cast<const uint16_t*>(values)[i]) << 16));
}
template <class T>
HEADROOM_BOTH void store(void* values, Format format, int64_t i, T value, uint32_t noise) {
    if (format == Format::fp64) {
        static_cast<double*>(values)[i] = static_cast<double>(value);
    } else if (format == Format::fp32) {
        static_cast<float*>(values)[i] = static_cast<float>(value);
    } else {
        static_cast<uint16_t*>(values)[i] = bf16_stochastic(static_cast<float>(value), noise);
    }
}

// The settings in the type that is computed with.
template <class T>
struct Factors {
    T rate, beta1, rest1, beta2, rest2, epsilon, kept, correction1, correction2, clip;

    explicit Factors(const OptimizerStep& s)
        : rate(static_cast<T>(s.rate)),
          beta1(static_cast<T>(s.beta1)),
          rest1(static_cast<T>(1 - s.beta1)),
          beta2(static_cast<T>(s.beta2)),
          rest2(static_cast<T>(1 - s.beta2)),
          epsilon(static_cast<T>(s.epsilon)),
          kept(static_cast<T>(1 - s.rate * s.decay)),
          correction1(static_cast<T>(s.correction1)),
          correction2(static_cast<T>(s.correction2)),
          clip(static_cast<T>(s.clip)) {}
};

HEADROOM_BOTH float root(float v) {
    return sqrtf(v);
}
HEADROOM_BOTH double root(double v) {
    return sqrt(v);
}

// Updates parameter i; m and v go in and come out (adam), or are left alone (sgd).
template <class T>
HEADROOM_BOTH void update_one(const OptimizerBuffers& b, const Factors<T>& f, bool adam, int64_t i,
                              const Noise& noise, T& m, T& v) {
    const T g = load<T>(b.gradients, b.gradient, i) * f.clip;
    T w = b.master != nullptr ? static_cast<T>(b.master[i]) : load<T>(b.weights, b.weight, i);
    if (adam) {
        m = f.beta1 * m + f.rest1 * g;
        v = f.beta2 * v + f.rest2 * g * g;
        w = w * f.kept - f.rate * (m / f.correction1) / (root(v / f.correction2) + f.epsilon);
    } else {
        w = w - f.rate * g;
    }
    if (b.master == nullptr) {
        store(b.weights, b.weight, i, w, noise.weight);
        return;
    }
    b.master[i] = static_cast<float>(w);
    if (b.weight == Format::bf16) {
        static_cast<uint16_t*>(b.weights)[i] = bf16_nearest(static_cast<float>(w));
    } else {
        store(b.weights, b.weight, i, w, 0);
    }
}

}  // namespace headroom::engine::kernels
