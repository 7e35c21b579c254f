#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "random_model.h"
#include "shipped.h"

namespace headroom::test {
namespace {

struct Published {
    const char* name;
    int64_t total;
};

// As the hub counts the published weights; of gemma-3-27b the language model, of DeepSeek without the module
// that predicts further tokens. tiny-qwen2 is ours: 4096 x 256 + 4 (2 x 257 x 128 + 257 x 256 + 256 x 256 +
// 3 x 256 x 704 + 2 x 256) + 256.
constexpr Published kPublished[] = {
    {"Qwen2.5-0.5B", 494'032'768},
    {"Qwen2.5-1.5B", 1'543'714'304},
    {"Qwen2.5-3B", 3'085'938'688},
    {"Qwen2.5-7B", 7'615'616'512},
    {"Qwen2.5-14B", 14'770'033'664},
    {"Qwen2.5-32B", 32'763'876'352},
    {"Qwen2.5-72B", 72'706'203'648},
    {"Qwen3-8B", 8'190'735'360},
    {"Qwen3-30B-A3B", 30'532'122'624},
    {"Qwen3-Coder-30B-A3B", 30'532'122'624},
    {"Qwen3-235B-A22B", 235'093'634'560},
    {"Llama-3.1-8B", 8'030'261'248},
    {"Llama-3.1-70B", 70'553'706'496},
    {"Llama-3.2-1B", 1'235'814'400},
    {"Mistral-7B-v0.3", 7'248'023'552},
    {"gemma-3-27b", 27'009'346'304},
    {"gpt-oss-20b", 20'914'757'184},
    {"gpt-oss-120b", 116'829'156'672},
    {"DeepSeek-V3", 671'026'419'200},
    {"DeepSeek-R1", 671'026'419'200},
    {"tiny-qwen2", 4'002'048},
};

TEST(Parameters, totals_of_the_shipped_models_are_the_published_ones) {
    for (const Published& p : kPublished) {
        const int64_t total = count_parameters(shipped(p.name)).total();
        fmt::print("{:<20} predicted {:>16} published {:>16} error {}\n", p.name, format_integer(total),
                   format_integer(p.total), total - p.total);
        EXPECT_EQ(total, p.total) << p.name;
    }
}

TEST(Parameters, every_shipped_model_is_pinned) {
    for (const std::string& name : shipped_models(data())) {
        EXPECT_TRUE(std::any_of(std::begin(kPublished), std::end(kPublished), [&](const Published& p) {
            return p.name == name;
        })) << name;
    }
}

// Model cards round: "3.3B", "22B", "37B", and gpt-oss without its embedding "3.6B" and "5.1B".
TEST(Parameters, active_parameters_are_those_of_the_model_cards) {
    const auto active = [](const char* name) {
        return static_cast<double>(count_parameters(shipped(name)).active) / 1e9;
    };
    const auto embedding = [](const char* name) {
        return static_cast<double>(count_parameters(shipped(name)).embedding) / 1e9;
    };
    EXPECT_NEAR(active("Qwen3-30B-A3B"), 3.3, 0.06);
    EXPECT_NEAR(active("Qwen3-235B-A22B"), 22, 0.5);
    EXPECT_NEAR(active("DeepSeek-V3"), 37, 0.6);
    EXPECT_NEAR(active("gpt-oss-20b") - embedding("gpt-oss-20b"), 3.6, 0.06);
    EXPECT_NEAR(active("gpt-oss-120b") - embedding("gpt-oss-120b"), 5.1, 0.06);
}

TEST(Parameters, a_dense_model_is_active_as_a_whole) {
    const Parameters p = count_parameters(shipped("Qwen2.5-7B"));
    EXPECT_EQ(p.active, p.total());
}

TEST(Parameters, parts_of_qwen2_by_hand) {
    const Parameters p = count_parameters(shipped("Qwen2.5-7B"));
    EXPECT_EQ(p.embedding, 152064 * 3584);
    EXPECT_EQ(p.head, 152064 * 3584);
    EXPECT_EQ(p.attention, 28 * (3584 * 3584 * 2 + 3584 * 512 * 2 + 3584 + 512 * 2));
    EXPECT_EQ(p.mlp, int64_t{28} * 3 * 3584 * 18944);
    EXPECT_EQ(p.norms, 57 * 3584);
    EXPECT_EQ(count_parameters(shipped("Qwen2.5-0.5B")).head, 0);
}

RC_GTEST_PROP(Parameters, layers_embedding_head_and_last_norm_make_the_total, ()) {
    const Model m = random_model();
    int64_t sum = m.vocabulary * m.hidden * (m.tied_embeddings ? 1 : 2) + m.hidden;
    for (const Layer& layer : m.layers) sum += layer_parameters(m, layer);
    RC_ASSERT(count_parameters(m).total() == sum);
}

RC_GTEST_PROP(Parameters, active_grows_to_the_total_with_the_experts_visited, ()) {
    Model m = random_model();
    const int64_t active = count_parameters(m).active;
    m.experts.per_token = m.experts.count;
    RC_ASSERT(active <= count_parameters(m).active);
    RC_ASSERT(count_parameters(m).active == count_parameters(m).total());
}

}  // namespace
}  // namespace headroom::test
