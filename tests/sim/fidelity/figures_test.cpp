#include "fidelity/figures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "sim/timeline/hand_made.h"

namespace headroom::fidelity {
namespace {

// Three ops of one kind, 10, 20 and 60 ns, and one transfer, half of it hidden.
Timeline step() {
    HandMade made;
    made.op(Stream::compute, OpKind::qkv, 0, 20).pass = Pass::fill;
    made.op(Stream::compute, OpKind::qkv, 20, 30).pass = Pass::gradient;
    made.op(Stream::compute, OpKind::qkv, 40, 100).pass = Pass::gradient;
    made.op(Stream::to_device, OpKind::load_pages, 25, 45).bytes = 512;
    made.memory(0, Tier::device, Category::weights, 100);
    made.memory(20, Tier::device, Category::activations, 50);
    made.memory(30, Tier::device, Category::activations, 10);
    made.memory(95, Tier::device, Category::activations, 0);
    return made.t;
}

TEST(Figures, CountsAndMediansByKind) {
    const Figures f = figures_of(step(), 0);
    EXPECT_EQ(f.step_ns, 100);
    EXPECT_EQ(f.ops, 4);
    ASSERT_EQ(f.kinds.size(), 2u);
    const KindFigures& qkv = f.kinds[0];
    EXPECT_EQ(qkv.kind, OpKind::qkv);
    EXPECT_EQ(qkv.count, 3);
    EXPECT_EQ(qkv.total_ns, 90);
    EXPECT_EQ(qkv.min_ns, 10);
    EXPECT_EQ(qkv.median_ns, 20);
    EXPECT_EQ(qkv.max_ns, 60);
    EXPECT_EQ(f.kinds[1].stream, Stream::to_device);
    EXPECT_EQ(f.kinds[1].bytes, 512);
    EXPECT_EQ(f.busy_ns[static_cast<size_t>(Stream::to_device)], 20);
    EXPECT_EQ(f.hidden_ns[static_cast<size_t>(Stream::to_device)], 10);
    EXPECT_DOUBLE_EQ(f.hidden_share, 0.5);
    EXPECT_EQ(f.pass_ns[static_cast<size_t>(Pass::gradient)], 80);
}

TEST(Figures, KeepExactPeaksInBins) {
    const Figures f = figures_of(step(), 4);
    EXPECT_EQ(f.tiers[0].peak_bytes, 150);
    EXPECT_EQ(f.tiers[0].category_peaks[static_cast<size_t>(Category::activations)], 50);
    ASSERT_EQ(f.curves.size(), 2u);
    const MemoryBins& activations = f.curves[1];
    EXPECT_EQ(activations.category, Category::activations);
    EXPECT_EQ(activations.most, (std::vector<int64_t>{50, 50, 10, 10}));
    EXPECT_EQ(activations.least, (std::vector<int64_t>{0, 10, 10, 0}));
    EXPECT_TRUE(figures_of(step(), 0).curves.empty());
}

TEST(Figures, AreReadBackEqual) {
    const Figures f = figures_of(small_step(), 8);
    const Result<ConfigTable> json = parse_json(figures_json(f).dump(), "f");
    ASSERT_TRUE(json);
    const Result<Figures> again = read_figures(*json);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, f);
}

TEST(Figures, RefuseWhatTheyCannotBe) {
    const nlohmann::ordered_json good = figures_json(figures_of(small_step(), 2));
    const auto error_with = [&](const char* pointer, const nlohmann::ordered_json& value) {
        nlohmann::ordered_json j = good;
        j[nlohmann::ordered_json::json_pointer(pointer)] = value;
        const Result<Figures> read = read_figures(parse_json(j.dump(), "f").value());
        return read ? "" : read.error().text();
    };
    EXPECT_NE(error_with("/step_ns", -1), "");
    EXPECT_NE(error_with("/busy_ns/compute", -5).find("compute"), std::string::npos);
    EXPECT_NE(error_with("/busy_ns/computer", 5).find("computer"), std::string::npos);
    EXPECT_NE(error_with("/kinds/0/0", "qkw").find("qkw"), std::string::npos);
    EXPECT_NE(error_with("/kinds/0", {1, 2}), "");
    EXPECT_NE(error_with("/curves/0/most_bytes", {1}).find("most_bytes"), std::string::npos);
    EXPECT_NE(error_with("/more", 1).find("more"), std::string::npos);
}

}  // namespace
}  // namespace headroom::fidelity
