// The token ids of each step: from a file, or seeded.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "plan/plan.h"

namespace headroom::engine {

// Step s trains on the s-th batch of contexts of the file, counted from 0; behind the last whole one it
// begins again with the first. Without a file every step has the same seeded ids.
class TokenSource {
public:
    // `file`: as read_token_ids() takes it; empty: seeded. Errors: missing or malformed; fewer ids than one
    // step takes.
    static Result<TokenSource> open(const Plan& plan, uint64_t seed, const std::filesystem::path& file);

    // The ids of steps [first, first + count) are all within the vocabulary, told before any of them runs.
    // Cost: reads them once, at most the whole file.
    Result<void> check(int64_t first, int64_t count) const;
    // [batch x context] int64, sequence after sequence, on the CPU.
    Result<at::Tensor> of_step(int64_t step) const;

private:
    TokenSource(const Plan& plan, uint64_t seed, std::filesystem::path file, int64_t steps)
        : step_(Tokens(plan.recipe.batch * plan.context.count())),
          vocabulary_(plan.model.vocabulary),
          seed_(seed),
          file_(std::move(file)),
          steps_(steps) {}

    Tokens step_;  // ids of one step: batch x context
    int64_t vocabulary_;
    uint64_t seed_;
    std::filesystem::path file_;
    int64_t steps_;  // whole ones in the file
};

}  // namespace headroom::engine
