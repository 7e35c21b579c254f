// docs/models.md shows what the code says.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/families/family.h"
#include "shipped.h"

namespace headroom::test {
namespace {

std::string layers_of(const Model& m) {
    int64_t windowed = 0, window = 0;
    for (const Layer& layer : m.layers) {
        windowed += layer.window > 0 ? 1 : 0;
        window = std::max(window, layer.window);
    }
    return windowed == 0 ? fmt::format("{}", m.layer_count())
                         : fmt::format("{}, {} see {}", m.layer_count(), windowed, window);
}

std::string row_of(const Model& m) {
    const Parameters p = count_parameters(m);
    return fmt::format("| {} | `{}` | {} | {} | {} | {} | {} |\n", m.name, m.type, layers_of(m),
                       format_integer(p.total()), p.active == p.total() ? "all" : format_integer(p.active),
                       format_integer(kv_bytes_per_token(m, Dtype::bf16).count()),
                       format_bytes(kv_bytes(m, Dtype::bf16, Tokens(1 << 20), true)));
}

std::string page() {
    const auto text = read_file(data() / "docs" / "models.md", kMiB);
    EXPECT_TRUE(text) << (text ? "" : text.error().text());
    return text.value_or("");
}

TEST(Docs, have_a_row_for_each_shipped_model) {
    const std::string text = page();
    for (const std::string& name : shipped_models(data())) {
        const std::string row = row_of(shipped(name));
        EXPECT_NE(text.find(row), std::string::npos) << "docs/models.md lacks the row\n" << row;
    }
}

TEST(Docs, name_each_model_type) {
    const std::string text = page();
    for (const Family& family : families())
        EXPECT_NE(text.find("`" + std::string(family.name) + "`"), std::string::npos) << family.name;
}

}  // namespace
}  // namespace headroom::test
