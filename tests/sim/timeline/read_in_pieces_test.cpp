#include <gtest/gtest.h>

#include "sim/timeline/hand_made.h"
#include "sim/timeline/pieces_of.h"
#include "timeline/read_parts.h"

namespace headroom {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

// Every cut between two pieces, and so every place where the list of events may be cut.
TEST(ReadInPieces, GivesTheSameForEverySizeOfPieces) {
    const std::string text = format_timeline(small_step());
    for (size_t size = 1; size <= text.size() + 1; ++size) {
        const auto back = read_in_pieces(pieces_of(text), "t", size);
        ASSERT_TRUE(back) << size;
        ASSERT_TRUE(*back == small_step()) << size;
    }
}

TEST(ReadInPieces, AStepWithoutOps) {
    Timeline t = small_step();
    t.ops.clear();
    t.waits.clear();
    t.waits_begin = {0};
    t.memory.clear();
    for (const size_t size : {1u, 50u, 100'000u}) {
        const auto back = read_in_pieces(pieces_of(format_timeline(t)), "t", size);
        ASSERT_TRUE(back) << size;
        EXPECT_EQ(*back, t);
    }
    const std::string text = format_timeline(t);
    const size_t list = text.find("\"traceEvents\":[") + 15;
    const std::string none = text.substr(0, list) + "]}";
    const auto back = read_in_pieces(pieces_of(none), "t", 50);
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, t);
}

// Laid out in another way: valid, and left to who reads the text whole.
TEST(ReadInPieces, LeavesOtherLayouts) {
    const std::string text = format_timeline(small_step());
    const size_t other = text.find("\"otherData\""), events = text.find(",\n\"traceEvents\"");
    const std::string turned = text.substr(0, other) + text.substr(events + 2, text.rfind('}') - events - 2) +
                               ",\n" + text.substr(other, events - other) + "}";
    const std::string in_line = replaced(text, "\n\"traceEvents\":[", "\"traceEvents\":[");
    const std::string spaced = replaced(text, "\"traceEvents\":[", "\"traceEvents\" : [");
    for (const std::string& valid : {turned, in_line, spaced}) {
        ASSERT_TRUE(parse_timeline(valid, "t"));
        EXPECT_FALSE(read_in_pieces(pieces_of(valid), "t", 100));
    }
}

// Line breaks that are not between two events.
TEST(ReadInPieces, ACutWithinAnEventIsNoEvent) {
    const std::string text = format_timeline(small_step());
    const std::string nested =
        replaced(text, R"("args":{"name":"compute"})",
                 "\"args\":{\"name\":[{},\n{},\n{\"ph\":\"M\",\"pid\":1,\"name\":\"x\","
                 "\"args\":{}},\n{}]}");
    const auto whole = parse_timeline(nested, "t");
    ASSERT_TRUE(whole) << whole.error().text();
    size_t taken = 0;
    for (size_t size = 1; size < nested.size(); ++size) {
        const auto back = read_in_pieces(pieces_of(nested), "t", size);
        taken += back ? 1u : 0u;
        if (back) {
            ASSERT_TRUE(*back == *whole) << size;
        }
    }
    EXPECT_GT(taken, 0u);
    EXPECT_LT(taken, nested.size() - 1);
}

TEST(ReadInPieces, WhatStandsAroundTheListIsRead) {
    const std::string text = format_timeline(small_step());
    for (const std::string& broken :
         {text + "x", text + "{}", text.substr(0, text.rfind("\n]}")) + ",\n]}",
          replaced(text, "{\"", "[{\""), replaced(text, "\n]}", "\n],\"traceEvents\":[]}"),
          replaced(text, "\n]}", "\n]]}"), replaced(text, "\"plan\":{", "\"plan\":{\n\"traceEvents\":["),
          replaced(text, ",\n{\"ph\":\"C\"", "],[\n{\"ph\":\"C\""),
          replaced(text, ",\n{\"ph\":\"C\"", "\n{\"ph\":\"C\"")}) {
        ASSERT_FALSE(parse_timeline(broken, "t"));
        for (const size_t size : {1u, 99u, 100'000u})
            EXPECT_FALSE(read_in_pieces(pieces_of(broken), "t", size)) << broken;
    }
}

// Pieces are parsed side by side: each op follows the ones of the piece before.
TEST(ReadInPieces, EveryPieceFollowsTheOneBefore) {
    const std::string text = format_timeline(small_step());
    const size_t op = text.find("{\"ph\":\"X\""), next = text.find("{\"ph\":\"X\"", op + 1);
    const std::string missing = text.substr(0, op) + text.substr(next);
    const std::string twice = text.substr(0, next) + text.substr(op, next - op) + text.substr(next);
    const std::string renamed = replaced(text, "\"id\":1,", "\"id\":2,");  // as many as the file says
    for (const std::string& broken : {missing, twice, renamed}) {
        ASSERT_FALSE(parse_timeline(broken, "t"));
        for (size_t size = 1; size < broken.size(); ++size)
            ASSERT_FALSE(read_in_pieces(pieces_of(broken), "t", size)) << size;
    }
}

TEST(ReadInPieces, AnErrorOfThePiecesIsNoTimeline) {
    const auto broken = [text = format_timeline(small_step()),
                         given = size_t{0}](std::span<char> into) mutable -> Result<size_t> {
        if (given > text.size() / 2) return fail("t", "is damaged");
        const size_t n = text.copy(into.data(), into.size(), given);
        given += n;
        return n;
    };
    EXPECT_FALSE(read_in_pieces(broken, "t", 100));
}

}  // namespace
}  // namespace headroom
