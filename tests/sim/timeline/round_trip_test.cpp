#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "sim/timeline/hand_made.h"
#include "sim/timeline/pieces_of.h"
#include "timeline/check.h"
#include "timeline/read_parts.h"

namespace headroom {
namespace {

int64_t whole(int64_t least, int64_t end) {
    return *rc::gen::inRange<int64_t>(least, end);
}
template <class E>
E any_of() {
    return static_cast<E>(whole(0, static_cast<int64_t>(E::count_)));
}

// ASCII with control characters, quotes and NUL.
std::string any_text() {
    std::string text;
    for (const int c : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 128)))
        text += static_cast<char>(c);
    return text;
}

void add_ops(HandMade& made) {
    std::array<int64_t, kStreams> free_at{};
    const auto count = static_cast<OpId>(whole(0, 30));
    for (OpId i = 0; i < count; ++i) {
        const auto stream = any_of<Stream>();
        int64_t& free = free_at[static_cast<size_t>(stream)];
        const int64_t start = free + whole(0, 5000);
        free = start + whole(0, 3000000);
        TimelineOp& op = made.op(stream, any_of<OpKind>(), start, free);
        op.bytes = whole(0, INT64_MAX);
        op.flops = whole(0, INT64_MAX);
        op.chunk = static_cast<uint32_t>(whole(0, 3) == 0 ? kNone : whole(0, kNone));
        op.layer = static_cast<uint16_t>(whole(0, 1 << 16));
        op.piece = static_cast<uint16_t>(whole(0, 1 << 16));
        op.sequence = static_cast<uint8_t>(whole(0, 256));
        op.pass = any_of<Pass>();
        for (int64_t n = i == 0 ? 0 : whole(0, 4); n > 0; --n)
            made.t.waits.push_back(static_cast<OpId>(whole(0, i)));
        made.t.waits_begin.back() = static_cast<uint32_t>(made.t.waits.size());
    }
}

Timeline any_timeline() {
    HandMade made;
    add_ops(made);
    Timeline& t = made.t;
    int64_t time = 0;
    for (int64_t n = whole(0, 20); n > 0; --n) {
        made.memory(time += whole(0, 100000), any_of<Tier>(), any_of<Category>(), whole(0, int64_t{1} << 58));
    }
    for (int64_t n = whole(0, 4); n > 0; --n) {
        Traffic row;
        row.chunk = static_cast<uint32_t>(whole(0, int64_t{1} << 32));
        row.layer = static_cast<uint16_t>(whole(0, 1 << 16));
        row.pass = any_of<Pass>();
        for (uint32_t* figure : {&row.selected, &row.loaded, &row.hit, &row.evicted, &row.gradients_loaded,
                                 &row.written_back, &row.first_touched}) {
            *figure = static_cast<uint32_t>(whole(0, int64_t{1} << 32));
        }
        row.loaded_bytes = whole(0, INT64_MAX);
        row.written_bytes = whole(0, INT64_MAX);
        t.traffic.push_back(row);
    }
    t.source = whole(0, 2) == 0 ? "simulated" : "measured";
    t.plan = whole(0, 2) == 0 ? "" : " {\"a\": [1, 2.5, \"x\"]}\n";
    for (std::string* text : {&t.plan_hash, &t.selection_source, &t.machine, &t.date, &t.rates})
        *text = any_text();
    for (int64_t n = whole(0, 4); n > 0; --n) {
        const double value =
            *rc::gen::arbitrary<double>() * std::pow(10.0, static_cast<double>(whole(-300, 290)));
        if (std::isfinite(value)) t.results[any_text()] = value;
    }
    for (int64_t& capacity : t.capacity_bytes) capacity = whole(0, INT64_MAX);
    return t;
}

RC_GTEST_PROP(RoundTrip, GivesAnEqualTimeline, ()) {
    const Timeline t = any_timeline();
    RC_ASSERT(check_timeline(t, "t").has_value());
    const auto back = parse_timeline(format_timeline(t), "t");
    if (!back) RC_FAIL(back.error().text());
    RC_ASSERT(*back == t);
    RC_ASSERT(format_timeline(*back) == format_timeline(t));
}

RC_GTEST_PROP(RoundTrip, GivesAnEqualTimelineInPiecesOfAnySize, ()) {
    const Timeline t = any_timeline();
    const std::string text = format_timeline(t);
    const auto back = read_in_pieces(pieces_of(text), "t", static_cast<size_t>(whole(1, 3000)));
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == t);
}

}  // namespace
}  // namespace headroom
