#include "plan/read_parts.h"

namespace headroom {
namespace {

Result<void> read_trainable(TableReader& training, Recipe& out) {
    HEADROOM_TRY(const std::optional<ConfigValue> value, training.find("trainable"));
    if (!value || value->as<std::string>() == "all") return {};
    if (!value->is_table()) {
        return value->wrong("\"all\" or { lora = 16, targets = [\"q\", \"k\", \"v\", \"o\"] }");
    }
    HEADROOM_TRY(TableReader table, TableReader::open(*value, training.form()));
    out.lora_targets = {"q", "k", "v", "o"};
    HEADROOM_CHECK(table.need("lora"));
    HEADROOM_CHECK(table.read("lora", out.lora_rank));
    // Optional in plans too: those written before it was read say nothing of it.
    if (table.find_optional("alpha")) HEADROOM_CHECK(table.read("alpha", out.lora_alpha, Range{1e-6, 1e6}));
    HEADROOM_CHECK(table.read("targets", out.lora_targets));
    return table.finish();
}

}  // namespace

Result<void> read_recipe(TableReader& table, Recipe& out) {
    HEADROOM_CHECK(table.read("optimizer", out.optimizer));
    HEADROOM_CHECK(table.read("states", out.states));
    HEADROOM_CHECK(table.read("master", out.master_weights));
    HEADROOM_CHECK(table.read("gradients", out.gradients));
    HEADROOM_CHECK(read_trainable(table, out));
    HEADROOM_CHECK(table.read("batch", out.batch));
    return table.finish();
}

Result<void> read_selection_model(TableReader& table, SelectionModel& out) {
    HEADROOM_CHECK(table.read("block_reuse", out.block_reuse));
    HEADROOM_CHECK(table.read("chunk_reuse", out.chunk_reuse));
    // Left out of a plan file where they are 0.
    if (table.find_optional("popularity")) HEADROOM_CHECK(table.read("popularity", out.popularity));
    if (table.find_optional("recency")) HEADROOM_CHECK(table.read("recency", out.recency));
    if (table.find_optional("neighbours")) HEADROOM_CHECK(table.read("neighbours", out.neighbours));
    if (table.find_optional("spread")) HEADROOM_CHECK(table.read("spread", out.spread));
    HEADROOM_CHECK(table.read("seed", out.seed));
    return table.read("source", out.source);
}

}  // namespace headroom
