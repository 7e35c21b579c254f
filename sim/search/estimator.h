// Candidates in closed form: bytes of each tier and time of the step without lowering the step.
//
// A candidate's decisions fall into two parts. Its *group* (everything but homes of parameters, residency
// shares and budgets) is lowered once for a few chunks: that gives the packed scratch, the slots, and the
// work of each stream on those chunks. Its *homes* are lowered once without chunks: that gives what
// parameters, gradients and states take. From both a candidate's score is arithmetic:
//     bytes  = standing(homes) + standing(group) + scratch(group) + pools(residency)
//     time   = setup + update (simulated alone) + sum over passes and chunks of the busiest stream's work
//     there
// Work of a stream is affine in the chunk's number between the chunks looked at.
//
// The score orders candidates; what is answered is always simulated exactly.
// Cost: a new group about 1 ms (sizes alone: a sixth), new homes 0.1 ms, a score under 2 us.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "program/program.h"
#include "program/selected.h"
#include "strategy/strategy.h"

namespace headroom {

struct Score {
    std::array<int64_t, kTiers> need_bytes{};
    int64_t step_ns = 0;
};

class Estimator {
public:
    Estimator();
    ~Estimator();
    Estimator(const Estimator&) = delete;
    Estimator& operator=(const Estimator&) = delete;

    // All plans asked about have the same model, hardware, context, recipe and selection model; decisions and
    // budgets differ. The plan must have passed check_plan and its strategy's check.
    Score score(const Plan& plan);
    // The score's bytes alone, in a fraction of its time.
    std::array<int64_t, kTiers> need_bytes(const Plan& plan);
    int64_t device_bytes(const Plan& plan);
    // The score's host bytes, with what a chunk needs besides its pages taken from `like`, a plan that
    // differs in the chunks on disk alone: no group of its own is lowered.
    int64_t host_bytes(const Plan& plan, const Plan& like);
    // A better time for one candidate: some chunks simulated exactly, the rest interpolated. Exact where the
    // step has few chunks. The function may be called from any thread, beside others, while the estimator
    // lives; its cost: about 1 ms.
    std::function<int64_t()> sampling(const Plan& plan);
    // Drawn at first; later calls for the same selections only read. From any thread, beside all other calls.
    const SelectionSet& selections(const Plan& plan);
    // From here on the plans asked about have a host link `factor` times as fast as those of the first calls:
    // what was priced for a link as it is serves them too.
    void set_link_speed(double factor);
    // From here on bytes alone are asked for: scores have no time, and new groups are lowered for their
    // sizes, which takes a fraction and serves all groups of the same sizes. Groups that have no time yet get
    // it once it is asked for.
    void set_bytes_only(bool bytes_only);

    // The decisions that a part of the work depends on.
    using Key = std::array<int64_t, 48>;

private:
    struct Sizes;
    struct Group;
    struct Homes;
    struct Selected;
    struct PoolLine;
    struct Pools;
    const Selected& selected(const Plan& plan);
    Group& group_of(const Plan& plan);
    Pools pools_of(const Plan& plan, const Group& group);
    const Pools& pools(const Plan& plan, Group& group);
    std::array<int64_t, kTiers> need_bytes(const Plan& plan, Group& group);
    static int64_t need_bytes(size_t tier, const Plan& plan, const Group& group, const Homes& homes,
                              const Pools& pools);
    Key group_key(const Plan& plan) const;
    // Those of a program, and those of a plan as group_of() lowers it.
    static Sizes sizes_in(const Program& program);
    const Sizes& sizes_of(const Plan& plan);
    const Homes& homes_of(const Plan& plan);
    // Shares of the loads that the page cache leaves in the fill pass and in the backward pass.
    std::pair<double, double> misses(const Plan& plan);

    struct KeyHash {
        size_t operator()(const Key& key) const {
            uint64_t h = 0x9e3779b97f4a7c15ull;
            for (const int64_t v : key)
                h = (h ^ static_cast<uint64_t>(v)) * 0xff51afd7ed558ccdull, h ^= h >> 32;
            return h;
        }
    };
    std::unordered_map<Key, std::unique_ptr<Group>, KeyHash> groups_;
    std::unordered_map<Key, std::unique_ptr<Sizes>, KeyHash> sizes_;  // of groups that have no time
    std::unordered_map<Key, std::unique_ptr<Homes>, KeyHash> homes_;
    std::mutex selecting_;
    std::unordered_map<Key, std::unique_ptr<Selected>, KeyHash> selections_;
    double link_speed_ = 1;
    bool bytes_only_ = false;
    // The last ones asked for: candidates come in runs.
    Key last_group_key_{}, last_homes_key_{};
    Group* last_group_ = nullptr;
    const Homes* last_homes_ = nullptr;
};

}  // namespace headroom
