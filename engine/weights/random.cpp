#include "weights/random.h"

#include <bit>
#include <cmath>
#include <string>

namespace headroom {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15ULL;

constexpr uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

// FNV-1a, 64 bits (Fowler, Noll, Vo).
uint64_t hash(std::string_view name) {
    uint64_t h = 0xCBF29CE484222325ULL;
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    return h;
}

uint64_t key_of(std::string_view name, uint64_t seed) {
    return mix(seed ^ hash(name));
}

uint64_t word(uint64_t key, int64_t index) {
    return mix(key + (static_cast<uint64_t>(index) + 1) * kGolden);
}

// bf16 is the upper half of fp32; the values are finite.
uint16_t to_bf16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    return static_cast<uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

template <class T, class Convert>
void fill(uint64_t key, const RandomValues& values, int64_t first, std::span<std::byte> bytes,
          Convert convert) {
    const double scale = values.deviation / std::sqrt(4294967295.0 / 3.0);
    const double half_width = values.deviation * std::sqrt(3.0);
    const std::span<T> out(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T));
    for (size_t i = 0; i < out.size(); ++i) {
        const uint64_t w = word(key, first + static_cast<int64_t>(i));
        if (values.uniform) {
            const double u = static_cast<double>(w >> 11) * 0x1p-53;
            out[i] = convert(values.mean + half_width * (2 * u - 1));
            continue;
        }
        const auto sum =
            static_cast<int32_t>((w & 0xFFFFU) + ((w >> 16) & 0xFFFFU) + ((w >> 32) & 0xFFFFU) + (w >> 48));
        out[i] = convert(values.mean + static_cast<double>(sum - 131070) * scale);
    }
}

}  // namespace

Result<void> fill_random(std::string_view name, const RandomValues& values, Dtype dtype, int64_t first,
                         std::span<std::byte> out) {
    const uint64_t key = key_of(name, values.seed);
    switch (dtype) {
        case Dtype::fp64:
            fill<double>(key, values, first, out, [](double x) { return x; });
            return {};
        case Dtype::fp32:
            fill<float>(key, values, first, out, [](double x) { return static_cast<float>(x); });
            return {};
        case Dtype::bf16:
            fill<uint16_t>(key, values, first, out, [](double x) { return to_bf16(static_cast<float>(x)); });
            return {};
        default:
            return fail("random values of '" + std::string(name) + "'", std::string(name_of(dtype)),
                        "fp64, fp32, bf16");
    }
}

RandomValues initial_values(const Model& model, const WeightSpec& weight, uint64_t seed) {
    const bool around_one = weight.role == WeightRole::norm && model.type.rfind("gemma3", 0) != 0;
    return {.seed = seed, .mean = around_one ? 1.0 : 0.0};
}

std::vector<int32_t> random_ids(std::string_view name, uint64_t seed, int64_t first, int64_t count,
                                int32_t bound) {
    const uint64_t key = key_of(name, seed);
    std::vector<int32_t> ids(static_cast<size_t>(count));
    for (size_t i = 0; i < ids.size(); ++i) {
        const uint64_t high = word(key, first + static_cast<int64_t>(i)) >> 32;
        ids[i] = static_cast<int32_t>((high * static_cast<uint64_t>(bound)) >> 32);
    }
    return ids;
}

}  // namespace headroom
