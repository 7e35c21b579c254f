// The text of a trace file. A step has a million events and more: integers are formatted by hand, and the
// text that all events of a kind share is put together once.
#include <array>
#include <cmath>

#include "program/names.h"
#include "timeline/json_text.h"
#include "timeline/trace_format.h"

namespace headroom {

JsonText& JsonText::string(std::string_view text) {
    buffer_.push_back('"');
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            buffer_.push_back('\\');
            buffer_.push_back(c);
        } else if (static_cast<unsigned char>(c) < 0x20) {
            fmt::format_to(std::back_inserter(buffer_), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
            buffer_.push_back(c);
        }
    }
    buffer_.push_back('"');
    return *this;
}

bool JsonText::flush() {
    const bool go_on = sink_(buffer_);
    buffer_.clear();
    return go_on;
}

namespace {

bool write_traffic(JsonText& out, const Timeline& t) {
    out.raw("\"traffic\":{\"columns\":[");
    for (size_t i = 0; i < kTrafficColumns.size(); ++i) out.raw(i == 0 ? "" : ",").string(kTrafficColumns[i]);
    out.raw("],\"rows\":[");
    bool first = true;
    for (const Traffic& r : t.traffic) {
        out.raw(first ? "\n[" : ",\n[")
            .integer(r.chunk)
            .raw(",")
            .integer(r.layer)
            .raw(",")
            .string(name_of(r.pass));
        for (const int64_t v : {int64_t{r.selected}, int64_t{r.loaded}, int64_t{r.hit}, int64_t{r.evicted},
                                int64_t{r.gradients_loaded}, int64_t{r.written_back},
                                int64_t{r.first_touched}, r.loaded_bytes, r.written_bytes}) {
            out.raw(",").integer(v);
        }
        out.raw("]");
        first = false;
        if (!out.spill()) return false;
    }
    out.raw("]}");
    return true;
}

bool write_metadata(JsonText& out, const Timeline& t) {
    out.raw("\"otherData\":{\"schema_version\":").integer(kTraceVersion);
    // The plan stands as its own text, so that it reads back to the byte.
    out.raw(",\n\"plan\":").raw(t.plan.empty() ? "null" : t.plan);
    const std::pair<const char*, const std::string*> texts[] = {
        {"source", &t.source},   {"plan_hash", &t.plan_hash}, {"selection_source", &t.selection_source},
        {"machine", &t.machine}, {"date", &t.date},           {"rates", &t.rates}};
    for (const auto& [key, text] : texts) out.raw(",\n").key(key).string(*text);
    if (!t.excerpt.empty()) out.raw(",\n").key("excerpt").string(t.excerpt);
    out.raw(",\n\"results\":{");
    bool first = true;
    for (const auto& [key, value] : t.results) {
        out.raw(first ? "" : ",").key(key).raw(std::isfinite(value) ? fmt::format("{}", value) : "null");
        first = false;
    }
    out.raw("},\n\"capacity_bytes\":{");
    for (size_t tier = 0; tier < kTiers; ++tier) {
        out.raw(tier == 0 ? "" : ",").key(name_of(static_cast<Tier>(tier))).integer(t.capacity_bytes[tier]);
    }
    out.raw("},\n\"counts\":{\"ops\":").integer(static_cast<int64_t>(t.ops.size()));
    out.raw(",\"waits\":").integer(static_cast<int64_t>(t.waits.size()));
    out.raw(",\"samples\":").integer(static_cast<int64_t>(t.memory.size())).raw("},\n");
    if (!write_traffic(out, t)) return false;
    out.raw("}");
    return true;
}

// Names of processes and threads, and their order on the screen.
void write_tracks(JsonText& out) {
    const auto process = [&](int64_t pid, std::string_view name) {
        out.raw(R"({"ph":"M","pid":)")
            .integer(pid)
            .raw(R"(,"name":"process_name","args":{"name":)")
            .string(name);
        out.raw("}},\n");
        out.raw(R"({"ph":"M","pid":)")
            .integer(pid)
            .raw(R"(,"name":"process_sort_index","args":{"sort_index":)");
        out.integer(pid).raw("}},\n");
    };
    process(kStepProcess, "step");
    for (size_t i = 0; i < kTiers; ++i) {
        const auto tier = static_cast<Tier>(i);
        process(process_of(tier), fmt::format("memory: {}", name_of(tier)));
    }
    for (size_t i = 0; i < kStreams; ++i) {
        const auto stream = static_cast<Stream>(i);
        const std::string_view metadata[] = {"thread_name", "thread_sort_index"};
        for (const std::string_view name : metadata) {
            out.raw(i == 0 && name == metadata[0] ? "" : ",\n")
                .raw(R"({"ph":"M","pid":)")
                .integer(kStepProcess);
            out.raw(R"(,"tid":)")
                .integer(thread_of(stream))
                .raw(R"(,"name":)")
                .string(name)
                .raw(R"(,"args":{)");
            if (name == metadata[0]) {
                out.raw(R"("name":)").string(name_of(stream)).raw("}}");
            } else {
                out.raw(R"("sort_index":)").integer(thread_of(stream)).raw("}}");
            }
        }
    }
}

bool write_ops(JsonText& out, const Timeline& t) {
    std::array<std::array<std::string, kStreams>, kOpKinds> head;
    for (size_t kind = 0; kind < kOpKinds; ++kind) {
        for (size_t stream = 0; stream < kStreams; ++stream) {
            head[kind][stream] =
                fmt::format(",\n{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"ts\":", kStepProcess,
                            thread_of(static_cast<Stream>(stream)), name_of(static_cast<OpKind>(kind)));
        }
    }
    std::array<std::string, static_cast<size_t>(Pass::count_)> pass;
    for (size_t i = 0; i < pass.size(); ++i)
        pass[i] = fmt::format(",\"pass\":\"{}\"", name_of(static_cast<Pass>(i)));
    for (size_t i = 0; i < t.ops.size(); ++i) {
        const TimelineOp& op = t.ops[i];
        out.raw(head[static_cast<size_t>(op.kind)][static_cast<size_t>(op.stream)]).micros(op.start_ns);
        out.raw(",\"dur\":").micros(op.end_ns - op.start_ns);
        out.raw(",\"args\":{\"id\":").integer(static_cast<int64_t>(i));
        out.raw(pass[static_cast<size_t>(op.pass)]);
        if (op.chunk != kNone) out.raw(",\"chunk\":").integer(op.chunk);
        if (op.layer != kNoLayer) out.raw(",\"layer\":").integer(op.layer);
        if (op.piece != 0) out.raw(",\"piece\":").integer(op.piece);
        if (op.sequence != 0) out.raw(",\"sequence\":").integer(op.sequence);
        out.raw(",\"bytes\":").integer(op.bytes).raw(",\"flops\":").integer(op.flops);
        const uint32_t begin = t.waits_begin[i], end = t.waits_begin[i + 1];
        for (uint32_t w = begin; w < end; ++w) out.raw(w == begin ? ",\"waits\":[" : ",").integer(t.waits[w]);
        out.raw(begin == end ? "}}" : "]}}");
        if (!out.spill()) return false;
    }
    return true;
}

bool write_memory(JsonText& out, const Timeline& t) {
    std::array<std::array<std::string, kCategories>, kTiers> head;
    for (size_t tier = 0; tier < kTiers; ++tier) {
        for (size_t category = 0; category < kCategories; ++category) {
            head[tier][category] = fmt::format(
                ",\n{{\"ph\":\"C\",\"pid\":{},\"name\":\"{}\",\"ts\":", process_of(static_cast<Tier>(tier)),
                name_of(static_cast<Category>(category)));
        }
    }
    for (const MemorySample& s : t.memory) {
        out.raw(head[static_cast<size_t>(s.tier)][static_cast<size_t>(s.category)]).micros(s.time_ns);
        out.raw(",\"args\":{\"bytes\":").integer(s.bytes).raw("}}");
        if (!out.spill()) return false;
    }
    return true;
}

}  // namespace

bool render_timeline(const Timeline& timeline, const TextSink& sink) {
    JsonText out(sink);
    out.raw("{\"displayTimeUnit\":\"ns\",\n");
    if (!write_metadata(out, timeline)) return false;
    out.raw(",\n\"traceEvents\":[\n");
    write_tracks(out);
    if (!write_ops(out, timeline) || !write_memory(out, timeline)) return false;
    out.raw("\n]}\n");
    return out.flush();
}

std::string format_timeline(const Timeline& timeline) {
    std::string text;
    render_timeline(timeline, [&](std::string_view part) {
        text.append(part);
        return true;
    });
    return text;
}

}  // namespace headroom
