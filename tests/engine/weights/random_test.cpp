#include "weights/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace headroom {
namespace {

template <class T>
std::vector<T> draw(std::string_view name, const RandomValues& values, Dtype dtype, int64_t first,
                    size_t count) {
    std::vector<T> out(count);
    EXPECT_TRUE(fill_random(name, values, dtype, first, std::as_writable_bytes(std::span(out))));
    return out;
}

TEST(Random, ValuesAreTheFormulaOfTheHeader) {
    // Worked out apart, with integers of any length: value 0 and 5 of "w" for seed 1.
    const std::vector<double> values =
        draw<double>("w", {.seed = 1, .mean = 0, .deviation = 1}, Dtype::fp64, 0, 6);
    EXPECT_DOUBLE_EQ(values[0], 0.5666905734285793);
    EXPECT_DOUBLE_EQ(values[5], -0.023971101114621834);
}

TEST(Random, AnyCutGivesTheSameBits) {
    const RandomValues values{.seed = 42};
    const auto whole = draw<float>("w", values, Dtype::fp32, 0, 1000);
    for (const int64_t first : {0, 1, 500, 990}) {
        const auto part = draw<float>("w", values, Dtype::fp32, first, 10);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + first));
    }
}

TEST(Random, UniformValuesFillTheirInterval) {
    constexpr size_t n = 100'000;
    const auto values =
        draw<double>("w", {.seed = 7, .mean = 3, .deviation = 2, .uniform = true}, Dtype::fp64, 0, n);
    const double half_width = 2 * std::sqrt(3.0);
    double sum = 0, squares = 0, least = 3, most = 3;
    for (const double x : values) {
        sum += x - 3;
        squares += (x - 3) * (x - 3);
        least = std::min(least, x);
        most = std::max(most, x);
    }
    // The extremes of n draws lie within some 1 / n of the ends; the mean within 5 of its standard errors.
    EXPECT_GE(least, 3 - half_width);
    EXPECT_LT(most, 3 + half_width);
    EXPECT_LT(least, 3 - half_width * (1 - 1e-3));
    EXPECT_GT(most, 3 + half_width * (1 - 1e-3));
    EXPECT_NEAR(sum / n, 0, 5 * 2 / std::sqrt(n));
    EXPECT_NEAR(squares / n, 4, 0.06);
}

TEST(Random, SeedAndNameChangeEverything) {
    const auto base = draw<double>("w", {.seed = 1}, Dtype::fp64, 0, 1000);
    for (const auto& other : {draw<double>("w", {.seed = 2}, Dtype::fp64, 0, 1000),
                              draw<double>("v", {.seed = 1}, Dtype::fp64, 0, 1000)}) {
        int equal = 0;
        double product = 0;
        for (size_t i = 0; i < base.size(); ++i) {
            equal += base[i] == other[i] ? 1 : 0;
            product += base[i] * other[i] / (0.02 * 0.02);
        }
        // 262,141 values: two draws are equal with p = 4e-6 about. Correlation: 5 standard errors of
        // 1/sqrt(1000).
        EXPECT_LE(equal, 1);
        EXPECT_LT(std::abs(product / 1000), 0.16);
    }
}

TEST(Random, HasTheMomentsThatWereAskedFor) {
    constexpr size_t n = 1'000'000;
    const auto values = draw<double>("w", {.seed = 7, .mean = 3, .deviation = 2}, Dtype::fp64, 0, n);
    double sum = 0;
    double squares = 0;
    double largest = 0;
    for (const double x : values) {
        sum += x - 3;
        squares += (x - 3) * (x - 3);
        largest = std::max(largest, std::abs(x - 3));
    }
    // Five standard errors: 2 / sqrt(n) of the mean, 4 sqrt(1.7 / n) of the variance (kurtosis 2.7).
    EXPECT_NEAR(sum / n, 0, 0.01);
    EXPECT_NEAR(squares / n, 4, 0.027);
    EXPECT_LE(largest, 2 * 3.4642);
    EXPECT_GT(largest, 2 * 3.0);
}

TEST(Random, NumberFormatsRoundTheSameValues) {
    const RandomValues values{.seed = 3, .mean = 1, .deviation = 0.5};
    const auto exact = draw<double>("w", values, Dtype::fp64, 0, 1000);
    const auto single = draw<float>("w", values, Dtype::fp32, 0, 1000);
    const auto half = draw<uint16_t>("w", values, Dtype::bf16, 0, 1000);
    for (size_t i = 0; i < exact.size(); ++i) {
        EXPECT_EQ(single[i], static_cast<float>(exact[i]));
        const auto value = std::bit_cast<float>(static_cast<uint32_t>(half[i]) << 16);
        const auto next = std::bit_cast<float>((static_cast<uint32_t>(half[i]) + 1) << 16);
        const auto before = std::bit_cast<float>((static_cast<uint32_t>(half[i]) - 1) << 16);
        EXPECT_LE(std::abs(value - single[i]), std::abs(next - single[i]));
        EXPECT_LE(std::abs(value - single[i]), std::abs(before - single[i]));
    }
}

TEST(Random, RefusesOtherFormats) {
    std::vector<std::byte> out(34);
    EXPECT_EQ(fill_random("w", {}, Dtype::q8_0, 0, out).error().text(),
              "random values of 'w': q8_0; allowed: fp64, fp32, bf16");
}

TEST(Random, WeightsBeginAroundZeroAndNormsAroundOne) {
    Model model;
    model.type = "qwen2";
    const WeightSpec norm{"model.norm.weight", {8}, WeightRole::norm};
    EXPECT_EQ(initial_values(model, norm, 5).mean, 1);
    EXPECT_EQ(initial_values(model, norm, 5).seed, 5);
    EXPECT_EQ(initial_values(model, {"a", {8}, WeightRole::bias}, 5).mean, 0);
    model.type = "gemma3_text";
    EXPECT_EQ(initial_values(model, norm, 5).mean, 0);
}

TEST(Random, IdsAreWithinTheirBoundAndReachIt) {
    std::vector<int> seen(10);
    for (const int32_t id : random_ids("ids", 1, 0, 1000, 10)) {
        ASSERT_GE(id, 0);
        ASSERT_LT(id, 10);
        ++seen[static_cast<size_t>(id)];
    }
    // 100 each, standard deviation 9.5.
    for (const int count : seen) EXPECT_NEAR(count, 100, 48);
}

}  // namespace
}  // namespace headroom
