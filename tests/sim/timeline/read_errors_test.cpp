// Every way a trace file can be wrong: one Error each, which says where and what is allowed.
#include <gtest/gtest.h>

#include "sim/timeline/hand_made.h"
#include "sim/timeline/pieces_of.h"
#include "timeline/read_parts.h"

namespace headroom {
namespace {

struct Case {
    const char* name;
    const char* from;  // in the text of small_step()
    const char* to;
    const char* message;  // part of the Error's text
};

const Case kCases[] = {
    // The file.
    {"empty_object", R"({"displayTimeUnit":"ns",)", R"({"displayTimeUnits":"ns",)",
     "nearest known: 'displayTimeUnit'"},
    {"unit", R"("displayTimeUnit":"ns")", R"("displayTimeUnit":7)", "key 'displayTimeUnit': 7"},
    {"events_twice", R"("displayTimeUnit":"ns")", R"("traceEvents":[],"traceEvents":[])",
     "key 'traceEvents': it stands there twice"},
    {"events_object", R"("traceEvents":[)", R"("traceEvents":{"a":1},"x":[)",
     "key 'traceEvents': an object; allowed: a list"},
    // otherData.
    {"version", R"("schema_version":1,)", R"("schema_version":2,)",
     "key 'schema_version': version 2; allowed: 1"},
    {"version_text", R"("schema_version":1,)", R"("schema_version":"1",)", "key 'schema_version': \"1\""},
    {"no_version", R"("schema_version":1,)", R"()", "key 'schema_version': it is missing"},
    {"hash", R"("plan_hash":"0123456789abcdef")", R"("plan_hash":123)",
     "key 'plan_hash': 123; allowed: a text"},
    {"hash_list", R"("plan_hash":"0123456789abcdef")", R"("plan_hash":[])", "key 'plan_hash': a list"},
    {"hash_twice", R"("date":"",)", R"("plan_hash":"",)", "key 'plan_hash': it stands there twice"},
    {"no_date", R"("date":"",)", R"()", "key 'date': it is missing"},
    {"unknown", R"("date":"",)", R"("dates":"",)", "nearest known: 'date'"},
    {"source", R"("source":"simulated")", R"("source":"guessed")", "key 'source': 'guessed'"},
    {"escape", R"("machine":"h200)", R"("machine":"\x200)", "key 'machine'"},
    {"plan_list", R"("plan":{)", R"("plan":[{)", "key 'plan': a list"},
    {"plan_bad", R"("chunk": 4096)", R"("chunk": 40 96)", "key 'plan': not JSON"},
    {"nan", R"("loss":2.)", R"("loss":NaN,"b":2.)", "key 'results.loss': NaN"},
    {"infinite", R"("loss":2.)", R"("loss":1e999,"b":2.)", "key 'results.loss': 1e999"},
    {"null", R"("loss":2.)", R"("loss":null,"b":2.)", "key 'results.loss': null"},
    {"result_twice", R"("loss":2.)", R"("gradient_norm":2.)",
     "key 'results.gradient_norm': it stands there twice"},
    {"tier", R"("host":120259084288)", R"("hosts":1)", "'hosts' is not a known tier; nearest known: 'host'"},
    {"no_tier", R"(,"disk":0)", "", "no 'disk'"},
    {"capacity", R"("disk":0)", R"("disk":-1)", "key 'capacity_bytes.disk': -1"},
    {"count_ops", R"("counts":{"ops":4)", R"("counts":{"ops":5)",
     "key 'counts.ops': 4 are there; allowed: 5"},
    {"count_waits", R"("waits":3,)", R"("waits":4,)", "key 'counts.waits': 3 are there"},
    {"count_samples", R"("samples":4})", R"("samples":0})", "key 'counts.samples': 4 are there"},
    {"count_unknown", R"("samples":4})", R"("sample":4})", "nearest known: 'samples'"},
    {"count_missing", R"(,"samples":4})", R"(})", "a count is missing"},
    {"column", R"("selected",)", R"("chosen",)", "column 3 is 'chosen'; allowed: 'selected'"},
    {"columns_many", R"("written_bytes"])", R"("written_bytes","x"])",
     "column 12 is 'x'; allowed: no more columns"},
    {"columns_few", R"(,"written_bytes"])", R"(])", "11 columns"},
    {"row_short", R"(,7864320,4194304])", R"(,7864320])", "row 0: 11 figures; allowed: 12"},
    {"row_long", R"(,7864320,4194304])", R"(,7864320,4194304,0])", "row 0: too many figures"},
    {"row_range", R"([3,7,"fill",64)", R"([3,65536,"setup",64)", "row 0: 65536"},
    {"row_pass", R"([3,7,"fill",64)", R"([3,7,"fll",64)", "nearest known: 'fill'"},
    {"row_number", R"([3,7,"fill",64)", R"([3,7,"setup",6.5)", "row 0: 6.5"},
    {"row_object", R"([3,7,"fill",64,)", R"({},[3,7,"setup",64,)", "row 0: an object"},
    // Events.
    {"event_number", R"({"ph":"M","pid":1,"name":"process_name")",
     R"(5,{"ph":"M","pid":1,"name":"process_name")", "event 0: 5"},
    {"phase", R"({"ph":"X","pid":1,"tid":2)", R"({"ph":"B","pid":1,"tid":2)", "key 'ph': 'B'"},
    {"no_phase", R"({"ph":"X","pid":1,"tid":2)", R"({"pid":1,"tid":2)", "key 'ph': it is missing"},
    {"key", R"("dur":2.000)", R"("dura":2.000)", "key 'dura': an unknown key; nearest known: 'dur'"},
    {"key_twice", R"("dur":2.000)", R"("ts":2.000)", "key 'ts': it stands there twice"},
    {"no_dur", R"("dur":2.000,)", "", "key 'dur': it is missing"},
    {"no_args",
     R"(,"args":{"id":1,"pass":"fill","chunk":3,"layer":7,"piece":2,"sequence":1,"bytes":512,"flops":0})", "",
     "key 'args': it is missing"},
    {"args_list",
     R"("args":{"id":1,"pass":"fill","chunk":3,"layer":7,"piece":2,"sequence":1,"bytes":512,"flops":0})",
     R"("args":[])", "key 'args': a list"},
    {"no_id", R"("id":1,)", "", "key 'args.id': it is missing"},
    {"no_bytes", R"("bytes":512,)", "", "key 'args.bytes': it is missing"},
    {"arg", R"("bytes":512,)", R"("byte":512,)",
     "key 'args.byte': an unknown key; nearest known: 'args.bytes'"},
    {"arg_place", R"("bytes":512,)", R"("bytes":512,"name":"x",)",
     "key 'args.name': it has no place in an event of type 'X'"},
    {"sample_place", R"("args":{"bytes":5000})", R"("args":{"bytes":5000,"id":1})",
     "key 'args.id': it has no place in an event of type 'C'"},
    {"kind", R"("name":"load_pages")", R"("name":"load_page")",
     "'load_page' is not a known kind of op; nearest known: 'load_pages'"},
    {"name", R"("name":"load_pages")", R"("name":17)", "key 'name': 17"},
    {"pass", R"("id":1,"pass":"fill")", R"("id":1,"pass":"fll")", "nearest known: 'fill'"},
    {"category", R"("name":"staging")", R"("name":"stagings")", "nearest known: 'staging'"},
    {"stream", R"("pid":1,"tid":2,"name":"load_pages")", R"("pid":1,"tid":6,"name":"load_pages")",
     "key 'tid': 6; allowed: 1 to 5"},
    {"process", R"("pid":1,"tid":2,"name":"load_pages")", R"("pid":2,"tid":2,"name":"load_pages")",
     "key 'pid': 2; allowed: 1"},
    {"no_tier_process", R"("pid":3,"name":"kv")", R"("pid":5,"name":"kv")", "key 'pid': 5; allowed: 2 to 4"},
    {"id_order", R"("args":{"id":1,)", R"("args":{"id":2,)", "key 'args.id': 2; allowed: 1"},
    {"id_negative", R"("args":{"id":1,)", R"("args":{"id":-1,)", "key 'args.id': -1"},
    {"piece", R"("piece":2)", R"("piece":65536)",
     "key 'args.piece': 65536; allowed: a whole number from 0 to 65535"},
    {"sequence", R"("sequence":1)", R"("sequence":256)", "key 'args.sequence': 256"},
    {"layer", R"("layer":7)", R"("layer":65535)", "key 'args.layer': 65535"},
    {"chunk", R"("chunk":3)", R"("chunk":4294967295)", "key 'args.chunk': 4294967295"},
    {"bytes_text", R"("bytes":512,)", R"("bytes":"512",)", "key 'args.bytes': \"512\""},
    {"bytes_fraction", R"("bytes":512,)", R"("bytes":512.5,)", "key 'args.bytes': 512.5"},
    {"flops_large", R"("flops":1099511627776)", R"("flops":9223372036854775808)",
     "key 'args.flops': 9223372036854775808"},
    {"flops_negative", R"("flops":1099511627776)", R"("flops":-1)", "key 'args.flops': -1"},
    // Times.
    {"negative", R"("dur":2.000)", R"("dur":-2.000)", "key 'dur': -2.000"},
    {"negative_start", R"("ts":0.500,"dur":2.0)", R"("ts":-0.500,"dur":2.0)", "key 'ts': -0.500"},
    {"decimals", R"("dur":2.000)", R"("dur":2.0001)", "key 'dur': 2.0001; allowed: microseconds"},
    {"exponent", R"("dur":2.000)", R"("dur":2e3)", "key 'dur': 2e3"},
    {"point", R"("dur":2.000)", R"("dur":2.)", "key 'dur': 2."},
    {"time_text", R"("dur":2.000)", R"("dur":"2")", "key 'dur': \"2\""},
    {"time_nan", R"("dur":2.000)", R"("dur":NaN)", "key 'dur': NaN"},
    {"time_far", R"("dur":2.000)", R"("dur":1152921504606846.977)", "key 'dur': 1152921504606846.977"},
    {"time_huge", R"("dur":2.000)", R"("dur":99999999999999999999999999)", "key 'dur': 99999"},
    {"overlap", R"("ts":2.500)", R"("ts":0.999)",
     "op 2: it starts at 999 ns, before op 0 of the same stream"},
    {"sample_order", R"("ts":0.500,"args":{"bytes":512})", R"("ts":9.000,"args":{"bytes":512})",
     "memory sample 3: a time of 4001 ns"},
    // Waits.
    {"wait_later", R"("waits":[0,2])", R"("waits":[0,3])",
     "op 3: it waits for op 3; allowed: ops of lower id"},
    {"wait_number", R"("waits":[0,2])", R"("waits":2,"layer":0)", "key 'args.waits': 2"},
    {"wait_text", R"("waits":[0,2])", R"("waits":[0,"2"])", "key 'args.waits': \"2\""},
    {"wait_negative", R"("waits":[0,2])", R"("waits":[0,-2])", "key 'args.waits': -2"},
    {"wait_open", R"("waits":[0,2])", R"("waits":[0 2])", "key 'args.waits'"},
};

TEST(ReadErrors, NameThePlaceAndWhatIsAllowed) {
    const std::string text = format_timeline(small_step());
    for (const Case& c : kCases) {
        const size_t at = text.find(c.from);
        ASSERT_NE(at, std::string::npos) << c.name << " is not in\n" << text;
        std::string broken = text;
        broken.replace(at, std::string_view(c.from).size(), c.to);
        const auto back = parse_timeline(broken, "t.json");
        ASSERT_FALSE(back) << c.name;
        EXPECT_EQ(back.error().fault, Fault::bad_input);
        EXPECT_EQ(back.error().text().rfind("t.json", 0), 0u) << c.name << ": " << back.error().text();
        EXPECT_NE(back.error().text().find(c.message), std::string::npos)
            << c.name << ": " << back.error().text();
    }
}

// What is read as it is unpacked is refused just as well; the whole text then says why.
TEST(ReadErrors, NoneIsOverlookedInPieces) {
    const std::string text = format_timeline(small_step());
    ASSERT_TRUE(read_in_pieces(pieces_of(text), "t.json", 100));
    for (const Case& c : kCases) {
        std::string broken = text;
        broken.replace(text.find(c.from), std::string_view(c.from).size(), c.to);
        for (const size_t size : {100u, 100'000u})
            EXPECT_FALSE(read_in_pieces(pieces_of(broken), "t.json", size)) << c.name;
    }
}

TEST(ReadErrors, TheEventIsCounted) {
    std::string text = format_timeline(small_step());
    const size_t metadata = 2 * (1 + kTiers) + 2 * kStreams;  // events before the first op
    const size_t at = text.find(R"("dur":2.000)");
    text.replace(at, 11, R"("dur":-2.00)");
    const auto back = parse_timeline(text, "t.json");
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().where, "t.json: event " + std::to_string(metadata + 1) + ", key 'dur'");
}

TEST(ReadErrors, TextThatIsNoTrace) {
    const std::string text = format_timeline(small_step());
    const std::string nul(1, '\0');
    for (const std::string& bad :
         {std::string(), nul, std::string("[]"), std::string("{}"), std::string("7"),
          std::string("{\"traceEvents\":[]}"), std::string("{\"otherData\":"), std::string(100000, '['),
          std::string(100000, '{'), text + "x", text + "{}", text + nul, "\xEF\xBB\xBF" + text,
          text.substr(1), "{" + text}) {
        const auto back = parse_timeline(bad, "t.json");
        ASSERT_FALSE(back) << bad.substr(0, 40);
        EXPECT_EQ(back.error().where.rfind("t.json", 0), 0u) << back.error().text();
    }
}

// A text cut off anywhere, or with one byte changed, is an Error or a Timeline, never a crash. The white
// space at the end alone may go.
TEST(ReadErrors, EveryPrefixIsAnError) {
    const std::string text = format_timeline(small_step());
    for (size_t size = 0; size + 1 < text.size(); ++size) {
        const std::string_view cut = std::string_view(text).substr(0, size);
        EXPECT_FALSE(parse_timeline(cut, "t.json")) << size;
        EXPECT_FALSE(read_in_pieces(pieces_of(cut), "t.json", 300)) << size;
    }
    EXPECT_TRUE(parse_timeline(std::string_view(text).substr(0, text.size() - 1), "t.json"));
}

TEST(ReadErrors, NoByteCanCrashTheReader) {
    const std::string text = format_timeline(small_step());
    size_t errors = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        for (const char c : {'"', '{', ']', '0', '-', '\\', '\xFF', '\0'}) {
            std::string broken = text;
            broken[i] = c;
            const auto back = parse_timeline(broken, "t.json");
            errors += back ? 0u : 1u;
            const auto in_pieces = read_in_pieces(pieces_of(broken), "t.json", 300);
            if (in_pieces) {
                ASSERT_TRUE(back) << i << " " << c << ": " << back.error().text();
                EXPECT_TRUE(*in_pieces == *back) << i << " " << c;
            }
            if (back) {
                const auto again = parse_timeline(format_timeline(*back), "again");
                ASSERT_TRUE(again) << i << " " << c << ": " << again.error().text();
                EXPECT_TRUE(*again == *back) << i << " " << c;
            }
        }
    }
    EXPECT_GT(errors, text.size());
}

}  // namespace
}  // namespace headroom
