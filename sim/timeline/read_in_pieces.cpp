// A trace read without its text ever standing there whole, which for a million ops would be 270 MB: parsing
// keeps to a core's cache, and the text can be unpacked beside it.
//
// Why the pieces are the whole. A valid JSON text has no line break within a string, so after ",\n{" comes a
// value of some list or object. Text is cut there, wherever that is. Each part stands in brackets of its own
// and has to be a list, and what lies before them has to be an object whose last key is "traceEvents" once
// "]}" closes it. If all of that holds, every cut lies between two events, and parts and commas make up the
// list.
#include <algorithm>

#include "timeline/read_parts.h"

namespace headroom {
namespace {

constexpr std::string_view kEvents = "\n\"traceEvents\":[";
constexpr std::string_view kCut = ",\n{";

class PieceReader {
public:
    PieceReader(const TextPieces& pieces, const std::string& where, size_t piece_bytes)
        : pieces_(pieces), where_(where), piece_bytes_(piece_bytes) {}

    std::optional<Timeline> read() {
        TraceParts parts;
        if (!head(parts)) return std::nullopt;
        EventsReader reader(where_, parts.timeline);
        for (bool ended = false; !ended;) {
            if (!more(ended) || (ended && !close())) return std::nullopt;
            const size_t end = ended ? text_.size() : text_.rfind(kCut);
            if (end != std::string::npos && !list(reader, end)) return std::nullopt;
        }
        Result<Timeline> timeline = finish(std::move(parts), where_);
        return timeline ? std::optional(std::move(*timeline)) : std::nullopt;
    }

private:
    // One more piece behind text_. False: it cannot be read.
    bool more(bool& ended) {
        const size_t before = text_.size();
        text_.resize(before + piece_bytes_);
        const Result<size_t> n = pieces_({text_.data() + before, piece_bytes_});
        text_.resize(before + (n ? *n : 0));
        ended = n && *n == 0;
        return n.has_value();
    }

    // What comes before the events; text_ then begins with the bracket of their list.
    bool head(TraceParts& parts) {
        size_t at = std::string::npos;
        for (size_t looked = 0; at == std::string::npos;) {
            bool ended = false;
            if (!more(ended) || ended) return false;
            at = text_.find(kEvents, looked);
            looked = text_.size() - std::min(text_.size(), kEvents.size() - 1);
        }
        at += kEvents.size();
        simdjson::padded_string head(text_.substr(0, at) + "]}");
        Result<TraceParts> read = read_parts(head, where_);
        if (!read || !read->events) return false;
        parts = std::move(*read);
        text_.erase(0, at - 1);
        return true;
    }

    // text_ without what closes the trace.
    bool close() {
        constexpr std::string_view kSpace = " \t\r\n";
        const auto strip = [&](char last) {
            const size_t end = text_.find_last_not_of(kSpace);
            if (end == std::string::npos || text_[end] != last) return false;
            text_.resize(end);
            return true;
        };
        return strip('}') && strip(']');
    }

    // The events up to `end`; text_ then begins with the bracket of those behind it.
    bool list(EventsReader& reader, size_t end) {
        if (end == text_.size()) text_ += ',';
        text_[end] = ']';
        text_.reserve(text_.size() + simdjson::SIMDJSON_PADDING);
        const simdjson::padded_string_view text(text_.data(), end + 1, text_.capacity());
        ondemand::document document;
        ondemand::array events;
        if (parser_.iterate(text).get(document) || document.get_array().get(events) || !reader.read(events) ||
            document.current_location().error() != simdjson::OUT_OF_BOUNDS)
            return false;
        text_[end] = '[';
        text_.erase(0, end);
        return true;
    }

    const TextPieces& pieces_;
    const std::string& where_;
    const size_t piece_bytes_;
    std::string text_;
    ondemand::parser parser_;
};

}  // namespace

std::optional<Timeline> read_in_pieces(const TextPieces& pieces, const std::string& where,
                                       size_t piece_bytes) {
    return PieceReader(pieces, where, piece_bytes).read();
}

}  // namespace headroom
