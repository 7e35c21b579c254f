// A ring of equal slots through which data travel to (or from) the device, with the dependencies that keep a
// slot from being overwritten while in use. One Stager serves one kind of data; its loads follow one another.
//
// Contract: load() of item i waits until the last use of item i - slots has ended, and runs at most
// `prefetch` items ahead of the compute stream. used() is called once per item, in order.
#pragma once

#include <string>
#include <vector>

#include "program/builder.h"

namespace headroom {

class Stager {
public:
    Stager() = default;
    // No slots are made where `bytes` is 0.
    Stager(StepBuilder& builder, const std::string& name, Category category, int64_t bytes, int64_t slots,
           int64_t prefetch)
        : builder_(&builder), prefetch_(prefetch), uses_(static_cast<size_t>(slots), kNone) {
        for (int64_t i = 0; i < slots; ++i) {
            builder.buffer(name + " slot " + std::to_string(i), Tier::device, category, bytes);
        }
    }

    // The next item's slot is free once this op has ended (kNone: at once); what fills it must wait for it.
    OpId free_after() const { return uses_[next_ % uses_.size()]; }
    // The compute op before which the next load must not start, so that it is not more than `prefetch` ahead.
    OpId not_before() const {
        const int64_t ahead = static_cast<int64_t>(next_) - 1 - prefetch_;
        return ahead < 0 || prefetch_ + 1 >= static_cast<int64_t>(uses_.size())
                   ? kNone
                   : uses_[static_cast<size_t>(ahead) % uses_.size()];
    }
    OpId load(Stream stream, OpKind kind, uint32_t work, OpId wait = kNone, int64_t piece = 0,
              OpId wait2 = kNone) {
        return builder_->op(stream, kind, work, {free_after(), not_before(), wait, wait2}, piece);
    }
    // The item's last use: a compute op, or the store that empties the slot.
    void used(OpId op) { uses_[next_++ % uses_.size()] = op; }

private:
    StepBuilder* builder_ = nullptr;
    int64_t prefetch_ = 0;
    size_t next_ = 0;
    std::vector<OpId> uses_;
};

}  // namespace headroom
