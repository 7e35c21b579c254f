// A step on a clock, simulated or measured: one type, one file format, the same op ids.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/program.h"

namespace headroom {

struct TimelineOp {
    int64_t start_ns = 0, end_ns = 0;
    int64_t bytes = 0, flops = 0;
    uint32_t chunk = kNone;
    uint16_t layer = kNoLayer;
    uint16_t piece = 0;
    OpKind kind = OpKind::embed;
    Stream stream = Stream::compute;
    Pass pass = Pass::setup;
    uint8_t sequence = 0;
    bool operator==(const TimelineOp&) const = default;
};

// From `time_ns` on, `bytes` of `category` are live in `tier`.
struct MemorySample {
    int64_t time_ns = 0;
    int64_t bytes = 0;
    Tier tier = Tier::device;
    Category category = Category::activations;
    bool operator==(const MemorySample&) const = default;
};

// Contract: ops are indexed by OpId and in id order; within a stream, start times ascend and ops do not
// overlap. waits_begin has size ops + 1; op i waits for waits[waits_begin[i] .. waits_begin[i + 1]), all
// below i. memory ascends by time; all samples of one instant are in effect together.
struct Timeline {
    std::string source;  // "simulated" or "measured"
    std::string plan;    // the plan as JSON text (write_plan)
    std::string plan_hash;
    std::string selection_source;  // empty where attention is dense
    std::string machine;           // hardware name; of a measured run: machine and driver
    std::string date;     // of a measured run; empty: simulated (the same input gives the same bytes)
    std::string rates;    // "calibrated: ..." or "uncalibrated: datasheet"
    std::string excerpt;  // what of a longer timeline this is (excerpt.h); empty: all of it
    std::map<std::string, double> results;         // of a measured run: "loss", "gradient_norm"
    std::array<int64_t, kTiers> capacity_bytes{};  // budget of each tier; 0: none
    std::vector<TimelineOp> ops;
    std::vector<uint32_t> waits_begin;
    std::vector<OpId> waits;
    std::vector<MemorySample> memory;
    std::vector<Traffic> traffic;

    bool operator==(const Timeline&) const;
};

// Chrome trace events, gzipped (docs/timeline-format.md); opens in Perfetto. Bytes are a function of the
// Timeline. Errors: a timeline that breaks its contract; Ctrl-C (Fault::interrupted); the file cannot be
// written. Then nothing is written. Cost: about 1 us and 30 bytes (the packed text) an event.
Result<void> write_timeline(const Timeline& timeline, const std::filesystem::path& path);
// Reads what write_timeline wrote, gzipped or plain, and gives an equal Timeline. Errors name the file, and
// the event or op where one is wrong. Cost: about 1 us an event, while a second thread unpacks; memory of the
// timeline alone where the file is laid out as write_timeline lays it out, else of three times the JSON text.
Result<Timeline> read_timeline(const std::filesystem::path& path);
Result<Timeline> parse_timeline(std::string_view json, const std::string& where);
// The whole JSON text. The timeline keeps its contract (check.h).
std::string format_timeline(const Timeline& timeline);

}  // namespace headroom
