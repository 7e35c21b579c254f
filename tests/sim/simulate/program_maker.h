// Under-test harness: small programs whose ops last what the test says.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

#include "simulate/execute.h"

namespace headroom {

// A machine on which nothing disturbs anything.
inline Hardware quiet_machine() {
    Hardware h;
    h.name = "quiet";
    for (auto& row : h.interference) row.fill(1);
    return h;
}

// `copy` loses nothing; every other class runs at `rate` beside a copy to the device.
inline Hardware copies_disturb(double rate) {
    Hardware h = quiet_machine();
    for (auto& row : h.interference) row[static_cast<size_t>(Sharing::to_device)] = rate;
    return h;
}

class ProgramMaker {
public:
    OpId op(Stream stream, int64_t duration_ns, Sharing sharing, std::initializer_list<OpId> waits = {}) {
        return op(stream, WorkCost{duration_ns, sharing}, std::vector<OpId>(waits));
    }
    OpId op(Stream stream, WorkCost cost, const std::vector<OpId>& waits) {
        const auto id = static_cast<OpId>(program_.ops.size());
        Op made;
        made.stream = stream;
        made.work = static_cast<uint32_t>(costs_.size());
        program_.ops.push_back(made);
        program_.works.emplace_back();
        costs_.push_back(cost);
        for (const OpId w : waits) waits_.emplace_back(id, w);
        return id;
    }
    OpId gemm(int64_t duration_ns, std::initializer_list<OpId> waits = {}) {
        return op(Stream::compute, duration_ns, Sharing::gemm, waits);
    }
    OpId load(int64_t duration_ns, std::initializer_list<OpId> waits = {}) {
        return op(Stream::to_device, duration_ns, Sharing::to_device, waits);
    }
    OpId store(int64_t duration_ns, std::initializer_list<OpId> waits = {}) {
        return op(Stream::to_host, duration_ns, Sharing::to_host, waits);
    }
    // An op that exists for its dependencies.
    OpId nothing(Stream stream, std::initializer_list<OpId> waits = {}) {
        return op(stream, 0, Sharing::idle, waits);
    }
    void take(OpId op, int64_t bytes, Tier tier = Tier::device, Category category = Category::activations) {
        program_.changes.push_back({bytes, op, tier, category, false});
    }
    void free(OpId op, int64_t bytes, Tier tier = Tier::device, Category category = Category::activations) {
        program_.changes.push_back({-bytes, op, tier, category, true});
    }
    void stand(int64_t bytes, Tier tier, Category category) {
        program_.standing[static_cast<size_t>(tier)][static_cast<size_t>(category)] += bytes;
    }

    const std::vector<WorkCost>& costs() const { return costs_; }
    Program program() const {
        Program p = program_;
        p.waits = WaitGraph(boost::edges_are_sorted, waits_.begin(), waits_.end(),
                            static_cast<uint32_t>(p.ops.size()), static_cast<uint32_t>(waits_.size()));
        std::stable_sort(p.changes.begin(), p.changes.end(),
                         [](const MemoryChange& a, const MemoryChange& b) { return a.op < b.op; });
        return p;
    }
    Result<Simulation> run(const Hardware& hardware = quiet_machine(),
                           const SimulateOptions& options = {}) const {
        return execute(program(), costs_, hardware, options);
    }
    // A run that must succeed.
    Simulation simulation(const Hardware& hardware = quiet_machine(), bool memory_curve = false) const {
        SimulateOptions options;
        options.memory_curve = memory_curve;
        Result<Simulation> result = run(hardware, options);
        if (!result) throw std::runtime_error(result.error().text());
        return std::move(*result);
    }

private:
    Program program_;
    std::vector<WorkCost> costs_;
    std::vector<std::pair<uint32_t, uint32_t>> waits_;
};

}  // namespace headroom
