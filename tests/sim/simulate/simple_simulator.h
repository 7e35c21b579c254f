// The fluid model word by word: at each event everything is looked at again. Slow; the truth of the tests.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "simulate/execute.h"
#include "simulate/sharing.h"

namespace headroom {

class SimpleSimulator {
public:
    SimpleSimulator(const Program& program, std::span<const WorkCost> costs, const Hardware& hardware)
        : program_(program),
          costs_(costs),
          hardware_(hardware),
          started_(program.size()),
          ended_(program.size()) {
        result_.start_ns.resize(program.size());
        result_.end_ns.resize(program.size());
    }

    Simulation run() {
        add_standing();
        for (;;) {
            while (start_one() || end_one_without_work()) {
            }
            sample();
            if (!advance()) break;
        }
        result_.duration_ns = now_;
        find_peaks();
        return std::move(result_);
    }

private:
    const WorkCost& cost(OpId op) const { return costs_[program_.ops[op].work]; }
    size_t stream(OpId op) const { return static_cast<size_t>(program_.ops[op].stream); }

    bool ready(OpId op) const {
        for (OpId before = 0; before < op; ++before)
            if (stream(before) == stream(op) && !ended_[before]) return false;
        const auto [begin, end] = adjacent_vertices(op, program_.waits);
        return std::all_of(begin, end, [&](OpId w) { return ended_[w]; });
    }
    void change(OpId op, bool at_end) {
        for (const MemoryChange& c : program_.changes)
            if (c.op == op && c.at_end == at_end) live_[{c.tier, c.category}] += c.bytes;
    }
    bool start_one() {
        for (OpId op = 0; op < program_.size(); ++op) {
            if (started_[op] || !ready(op)) continue;
            started_[op] = true;
            result_.start_ns[op] = now_;
            left_[op] = cost(op).duration_ns * kRateOne;
            change(op, false);
            return true;
        }
        return false;
    }
    void end(OpId op) {
        left_.erase(op);
        ended_[op] = true;
        result_.end_ns[op] = now_;
        result_.busy_ns[stream(op)] += now_ - result_.start_ns[op];
        change(op, true);
    }
    bool end_one_without_work() {
        for (const auto& [op, left] : left_) {
            if (left > 0) continue;
            end(op);
            return true;
        }
        return false;
    }
    // To the next end. Every op that runs moves by its rate.
    bool advance() {
        if (left_.empty()) return false;
        Running running{};
        for (const auto& [op, left] : left_) running[stream(op)] = cost(op).sharing;
        const Rates rates = solve_sharing(running, hardware_);
        std::optional<int64_t> step;
        for (const auto& [op, left] : left_) {
            const int64_t time = ceil_div(left, rates[stream(op)]);
            if (!step || time < *step) step = time;
        }
        now_ += *step;
        for (auto& [op, left] : left_) left -= rates[stream(op)] * *step;
        return true;
    }
    void add_standing() {
        for (size_t t = 0; t < kTiers; ++t)
            for (size_t c = 0; c < kCategories; ++c)
                live_[{static_cast<Tier>(t), static_cast<Category>(c)}] = program_.standing[t][c];
    }
    void sample() {
        for (const auto& [slot, bytes] : live_) {
            if (bytes == shown_[slot]) continue;
            shown_[slot] = bytes;
            result_.memory.push_back({now_, bytes, slot.first, slot.second});
        }
        for (size_t t = 0; t < kTiers; ++t) {
            Peak here;
            here.time_ns = now_;
            for (size_t c = 0; c < kCategories; ++c) {
                here.by_category[c] = live_[{static_cast<Tier>(t), static_cast<Category>(c)}];
                here.bytes += here.by_category[c];
            }
            if (here.bytes > result_.peaks[t].bytes) result_.peaks[t] = here;
        }
    }
    void find_peaks() {
        for (Peak& peak : result_.peaks) {
            if (peak.bytes == 0) continue;
            int64_t latest = -1;
            for (OpId op = 0; op < program_.size(); ++op) {
                const int64_t start = result_.start_ns[op];
                if (start > peak.time_ns || start < latest) continue;
                latest = start;
                peak.op = op;
            }
        }
    }

    const Program& program_;
    std::span<const WorkCost> costs_;
    const Hardware& hardware_;
    std::vector<bool> started_, ended_;
    std::map<OpId, int64_t> left_;
    std::map<std::pair<Tier, Category>, int64_t> live_, shown_;
    int64_t now_ = 0;
    Simulation result_;
};

}  // namespace headroom
