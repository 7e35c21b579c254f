#include "simulate/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "simulate/live_memory.h"
#include "simulate/op_queues.h"
#include "simulate/rate_table.h"
#include "timeline/check.h"

namespace headroom {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int64_t kTooLate = kLatest_ns + 1;  // an end that only a later gain in rate could bring into range
constexpr int64_t kProgressOps = 1'000'000;

// Whole nanoseconds that `left` (ns x kRateOne) takes at `rate`.
int64_t time_left(int64_t left, int64_t rate) {
    const auto work = static_cast<uint64_t>(left);
    if (rate == kRateOne)
        return static_cast<int64_t>((work + kRateOne - 1) / static_cast<uint64_t>(kRateOne));
    return static_cast<int64_t>((work - 1) / static_cast<uint64_t>(rate)) + 1;  // work > 0
}

// The streams in the middle of a step.
//
// An op's end is computed when it starts and again only when its rate changes: while the rate stays, the
// predicted end is exact, since ceil((left - rate dt) / rate) = ceil(left / rate) - dt for whole dt.
class Execution {
public:
    Execution(const Program& program, std::span<const WorkCost> costs, const Hardware& hardware,
              const OpQueues& queues, LiveMemory memory)
        : program_(program), costs_(costs), rates_(hardware), memory_(std::move(memory)) {
        result_.start_ns.resize(program.size());
        result_.end_ns.resize(program.size(), kNever);
        end_.fill(kNever);
        waits_for_.fill(kNone);
        for (size_t s = 0; s < kStreams; ++s) {
            lanes_[s].next = queues.of(s).data();
            lanes_[s].last = lanes_[s].next + queues.of(s).size();
        }
    }

    Result<Simulation> run(const SimulateOptions& options) {
        int64_t report_at = options.progress ? kProgressOps : kNever;
        StreamMask free = (1u << kStreams) - 1;
        for (;;) {
            start_heads(free);
            memory_.settle(now_, last_started_);
            set_rates();
            if (ended_ >= report_at) {
                report_at = ended_ + kProgressOps;
                if (!options.progress(static_cast<double>(ended_) / static_cast<double>(program_.size())))
                    return fail("", "interrupted", "", Fault::interrupted);
            }
            const int64_t next = *std::min_element(end_.begin(), end_.end());
            if (next > kLatest_ns) break;
            now_ = next;
            free = 0;
            for (size_t s = 0; s < kStreams; ++s)
                if (end_[s] == next) free |= finish(s);
        }
        return finished();
    }

private:
    using StreamMask = uint32_t;

    struct Lane {
        const OpId *next = nullptr, *last = nullptr;  // ops not started
        // Of *next, where the stream is held up: from the wait that holds it to the end.
        WaitGraph::adjacency_iterator wait, wait_end;
        bool held = false;
        OpId op = kNone;   // running
        int64_t left = 0;  // of it, ns x kRateOne, at `since`
        int64_t since = 0, rate = 0;
    };

    // Starts what can start on the streams of `free`, and on those that ops without work let go on.
    void start_heads(StreamMask free) {
        while (free != 0) {
            const auto s = static_cast<size_t>(std::countr_zero(free));
            free &= free - 1;
            free |= start_head(s);
        }
    }

    // Starts ops of a stream that runs none: until one has work or is held up. Returns the streams let go on.
    StreamMask start_head(size_t s) {
        Lane& lane = lanes_[s];
        StreamMask freed = 0;
        while (lane.next != lane.last) {
            const OpId op = *lane.next;
            if (!lane.held) std::tie(lane.wait, lane.wait_end) = adjacent_vertices(op, program_.waits);
            while (lane.wait != lane.wait_end && *lane.wait < op && result_.end_ns[*lane.wait] != kNever)
                ++lane.wait;
            lane.held = lane.wait != lane.wait_end;
            waits_for_[s] = lane.held ? *lane.wait : kNone;
            if (lane.held) break;
            ++lane.next;
            result_.start_ns[op] = now_;
            if (now_ > last_start_ns_ || last_started_ == kNone || op > last_started_) last_started_ = op;
            last_start_ns_ = now_;
            memory_.start(s, op);
            const WorkCost& cost = costs_[program_.ops[op].work];
            if (cost.duration_ns != 0) {
                lane.op = op;
                lane.left = cost.duration_ns * kRateOne;
                lane.since = now_;
                lane.rate = 0;
                running_ |= key_of(s, cost.sharing);
                started_ |= 1u << s;
                break;
            }
            freed |= ended(s, op);
        }
        return freed;
    }

    StreamMask finish(size_t s) {
        Lane& lane = lanes_[s];
        end_[s] = kNever;
        running_ &= ~(((1u << kKeyBits) - 1) << (kKeyBits * s));
        result_.busy_ns[s] += now_ - result_.start_ns[lane.op];
        return ended(s, lane.op) | 1u << s;
    }

    StreamMask ended(size_t s, OpId op) {
        result_.end_ns[op] = now_;
        memory_.end(s, op);
        ++ended_;
        StreamMask freed = 0;
        for (size_t o = 0; o < kStreams; ++o) freed |= static_cast<StreamMask>(waits_for_[o] == op) << o;
        return freed;
    }

    // New ends of the ops that started, and of those whose rate a change of the running set altered.
    void set_rates() {
        if (running_ != rates_key_) {
            rates_key_ = running_;
            current_ = rates_.at(running_);
            for (size_t s = 0; s < kStreams; ++s)
                if (end_[s] != kNever && lanes_[s].rate != current_[s]) started_ |= 1u << s;
        }
        for (; started_ != 0; started_ &= started_ - 1) {
            const auto s = static_cast<size_t>(std::countr_zero(started_));
            Lane& lane = lanes_[s];
            lane.left -= lane.rate * (now_ - lane.since);
            lane.since = now_;
            lane.rate = current_[s];
            const int64_t time = time_left(lane.left, lane.rate);
            end_[s] = time > kTooLate - now_ ? kTooLate : now_ + time;
        }
    }

    Result<Simulation> finished() {
        if (const auto late = std::find(end_.begin(), end_.end(), kTooLate); late != end_.end()) {
            return fail(fmt::format("op {}", lanes_[static_cast<size_t>(late - end_.begin())].op),
                        "it ends more than 2^60 ns after the start of the step",
                        "a step of at most 36 years");
        }
        if (ended_ != static_cast<int64_t>(program_.size())) return held_up();
        if (memory_.negative()) {
            const MemorySample& sample = *memory_.negative();
            return fail(fmt::format("{} memory of {}", name_of(sample.tier), name_of(sample.category)),
                        fmt::format("{} bytes at {} ns", sample.bytes, sample.time_ns), "0 or more",
                        Fault::run_failed);
        }
        result_.duration_ns = now_;
        result_.peaks = memory_.peaks();
        result_.memory = memory_.take_curve();
        return std::move(result_);
    }

    // The held-up op of lowest id waits for none below it: that one would be held up too, and lower.
    Result<Simulation> held_up() const {
        OpId lowest = kNone, cause = kNone;
        for (const Lane& lane : lanes_) {
            if (!lane.held || *lane.next >= lowest) continue;
            lowest = *lane.next;
            cause = *lane.wait;
        }
        return fail(fmt::format("op {} ({})", lowest, name_of(program_.ops[lowest].kind)),
                    fmt::format("it waits for op {}", cause), "ops of lower id", Fault::run_failed);
    }

    const Program& program_;
    std::span<const WorkCost> costs_;
    RateTable rates_;
    LiveMemory memory_;
    Simulation result_;

    int64_t now_ = 0;
    std::array<int64_t, kStreams> end_;     // predicted, of the running op; kNever where none runs
    std::array<OpId, kStreams> waits_for_;  // by each stream's next op; kNone where it is not held up
    std::array<Lane, kStreams> lanes_;
    RunningKey running_ = 0, rates_key_ = 0;
    StreamMask started_ = 0;  // streams whose op has no end yet, or an outdated one
    Rates current_{};
    OpId last_started_ = kNone;  // of several at one instant the highest id
    int64_t last_start_ns_ = 0;
    int64_t ended_ = 0;
};

}  // namespace

Result<Simulation> execute(const Program& program, std::span<const WorkCost> costs, const Hardware& hardware,
                           const SimulateOptions& options) {
    for (size_t i = 0; i < costs.size(); ++i) {
        if (costs[i].duration_ns < 0 || costs[i].duration_ns >= kLongestOp) {
            return fail(fmt::format("work {}", i), fmt::format("a duration of {} ns", costs[i].duration_ns),
                        "less than 2^43 ns (2.4 hours)");
        }
    }
    HEADROOM_TRY(const OpQueues queues, queues_of(program, costs.size()));
    HEADROOM_TRY(LiveMemory memory, LiveMemory::of(program, options.memory_curve));
    return Execution(program, costs, hardware, queues, std::move(memory)).run(options);
}

}  // namespace headroom
