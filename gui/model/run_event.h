// What the engine says while it runs: one JSON object a line.
#pragma once

#include <QByteArray>
#include <QString>
#include <cstdint>
#include <optional>

namespace headroom::gui {

// Fields that an event does not have keep their defaults. Steps count from 0; a run that goes on from a
// checkpoint begins at `first_step`.
struct RunEvent {
    enum class Kind { start, progress, step, checkpoint, saved, written, end, other };
    Kind kind = Kind::other;
    // start
    QString device;
    int64_t ops = 0, device_arena_bytes = 0, host_arena_bytes = 0, first_step = 0, steps = 0;
    // progress: `share` of the step's ops is done, in [0, 1]
    int64_t step = 0;
    double share = 0;
    // step and end; absent where it is no number (a loss that overflowed)
    std::optional<double> loss, gradient_norm;
    double learning_rate = 0, seconds = 0, tokens_per_second = 0;
    std::optional<double> mfu;
    std::optional<int64_t> device_used_bytes;  // on a GPU: in use by whatever process
    // checkpoint, saved, written: the file or folder. other: the line as it came.
    QString text;
};
// A line that is no event of these kinds is Kind::other.
RunEvent parse_run_event(const QByteArray& line);

}  // namespace headroom::gui
