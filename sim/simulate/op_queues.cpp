#include "simulate/op_queues.h"

#include <fmt/format.h>

namespace headroom {

Result<OpQueues> queues_of(const Program& program, size_t works) {
    const size_t ops = program.size();
    const auto mistake = [](std::string where, std::string found, std::string allowed) {
        return fail(std::move(where), std::move(found), std::move(allowed), Fault::run_failed);
    };
    if (ops >= kNone) return mistake("program", fmt::format("{} ops", ops), fmt::format("below {}", kNone));
    if (num_vertices(program.waits) != ops) {
        return mistake("program", fmt::format("waits of {} ops", num_vertices(program.waits)),
                       fmt::format("waits of its {} ops", ops));
    }
    OpQueues queues;
    std::array<size_t, kStreams> next{};
    for (size_t i = 0; i < ops; ++i) {
        const Op& op = program.ops[i];
        if (op.stream >= Stream::count_ || op.work >= works) {
            return mistake(fmt::format("op {}", i),
                           fmt::format("stream {}, work {}", static_cast<int>(op.stream), op.work),
                           fmt::format("stream 0 to {}, work below {}", kStreams - 1, works));
        }
        ++next[static_cast<size_t>(op.stream)];
    }
    for (size_t s = 0; s < kStreams; ++s) {
        queues.begin[s + 1] = queues.begin[s] + next[s];
        next[s] = queues.begin[s];
    }
    queues.ops.resize(ops);
    for (size_t i = 0; i < ops; ++i)
        queues.ops[next[static_cast<size_t>(program.ops[i].stream)]++] = static_cast<OpId>(i);
    return queues;
}

}  // namespace headroom
