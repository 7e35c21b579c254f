// The parts of a trace file, read into a Timeline. Private to the room.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "timeline/json_fields.h"
#include "timeline/timeline.h"

namespace headroom {

// What the file says it holds: a file that lost events on its way is found out.
struct TraceCounts {
    int64_t ops = 0, waits = 0, samples = 0;
};

// "otherData": everything but ops and memory samples.
Result<TraceCounts> read_metadata(ondemand::object object, const std::string& where, Timeline& timeline);
// "traceEvents": ops with their waits, and memory samples. The contract between events is check_timeline's.
class EventsReader {
public:
    // Both must outlive it; `timeline` has no ops. `first`: the id that the first op must have; absent: any.
    EventsReader(const std::string& where, Timeline& timeline, std::optional<OpId> first = 0);
    ~EventsReader();
    EventsReader(const EventsReader&) = delete;
    EventsReader& operator=(const EventsReader&) = delete;

    // The next events, all or some of the list.
    Result<void> read(ondemand::array events);
    // The id of the first op; 0 without ops.
    OpId first() const;

private:
    class Reader;
    std::unique_ptr<Reader> reader_;
};

// The object that a trace is, before what spans its parts is checked.
struct TraceParts {
    Timeline timeline;
    TraceCounts counts;
    bool metadata = false, events = false;  // whether "otherData" and "traceEvents" were there
};
Result<TraceParts> read_parts(simdjson::padded_string_view text, const std::string& where);
// The timeline, if no part is missing, the counts are right and the contract holds.
Result<Timeline> finish(TraceParts parts, const std::string& where);

// Fills the span with the next text unless that ends before; the number of bytes written, 0: nothing more.
using TextPieces = std::function<Result<size_t>(std::span<char>)>;
// A trace laid out as write_timeline does it, "traceEvents" last and each event at the beginning of a line,
// read without holding its text. Absent where it is laid out in another way or is wrong anywhere: read whole,
// it is either taken or refused with the right words.
std::optional<Timeline> read_in_pieces(const TextPieces& pieces, const std::string& where,
                                       size_t piece_bytes = size_t{512} << 10);

}  // namespace headroom
