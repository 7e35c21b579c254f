#include "run/token_source.h"

#include <algorithm>
#include <string>
#include <vector>

#include "weights/token_ids.h"

namespace headroom::engine {

Result<TokenSource> TokenSource::open(const Plan& plan, uint64_t seed, const std::filesystem::path& file) {
    if (file.empty()) return TokenSource(plan, seed, file, 1);
    HEADROOM_TRY(const Tokens ids, count_token_ids(file));
    const int64_t step = plan.recipe.batch * plan.context.count();
    if (ids.count() < step)
        return fail(file.string(), "holds " + std::to_string(ids.count()) + " token ids",
                    std::to_string(step) + " at least, the plan's batch x context");
    return TokenSource(plan, seed, file, ids.count() / step);
}

Result<void> TokenSource::check(int64_t first, int64_t count) const {
    for (int64_t s = first; s < first + std::min(count, steps_); ++s) HEADROOM_CHECK(of_step(s));
    return {};
}

Result<at::Tensor> TokenSource::of_step(int64_t step) const {
    if (file_.empty()) return at::tensor(random_token_ids(seed_, Tokens(0), step_, vocabulary_), at::kLong);
    const Tokens first(step % steps_ * step_.count());
    HEADROOM_TRY(const std::vector<int32_t> ids, read_token_ids(file_, first, step_, vocabulary_));
    return at::tensor(ids, at::kLong);
}

}  // namespace headroom::engine
