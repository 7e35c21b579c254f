#include "gui/model/op_query.h"

#include <algorithm>

#include "gui/model/text.h"

namespace headroom::gui {
namespace {

constexpr const char* kWhere = "search";

template <class E, size_t N>
QStringList names() {
    QStringList all;
    for (size_t i = 0; i < N; ++i) all << text_of(name_of(static_cast<E>(i)));
    return all;
}

// Keeps of `allowed` the names that are `word`, or contain it where none is.
template <class E, size_t N>
Result<void> narrow(std::array<bool, N>& allowed, const QString& word, const char* what) {
    const QStringList all = names<E, N>();
    const bool whole = all.contains(word);
    bool any = false;
    for (size_t i = 0; i < N; ++i) {
        const QString& name = all[static_cast<qsizetype>(i)];
        const bool fits = whole ? name == word : name.contains(word);
        any |= fits;
        allowed[i] = allowed[i] && fits;
    }
    if (!any)
        return fail(kWhere, QString("'%1'").arg(word).toStdString(),
                    (N <= 8 ? all.join(", ") : QString("part of the name of a ") + what).toStdString());
    return {};
}

Result<OpQuery::Numbers> numbers(const QString& text) {
    const QStringList ends = text.split('-');
    bool good = ends.size() <= 2, good_first = false, good_last = false;
    const uint first = ends.first().toUInt(&good_first), last = ends.last().toUInt(&good_last);
    if (!good || !good_first || !good_last || last < first)
        return fail(kWhere, "'" + text.toStdString() + "'", "a number or a range, as 3 or 3-7");
    return OpQuery::Numbers{first, last};
}

bool inside(const std::optional<OpQuery::Numbers>& range, uint32_t value) {
    return !range || (value >= range->first && value <= range->last);
}

}  // namespace

bool OpQuery::matches(const TimelineOp& op) const {
    return kinds[static_cast<size_t>(op.kind)] && streams[static_cast<size_t>(op.stream)] &&
           passes[static_cast<size_t>(op.pass)] && inside(chunk, op.chunk) &&
           inside(layer, op.layer == kNoLayer ? kNone : op.layer) && inside(piece, op.piece);
}

Result<OpQuery> parse_query(const QString& text) {
    OpQuery query;
    query.kinds.fill(true);
    query.streams.fill(true);
    query.passes.fill(true);
    const QStringList words = text.toLower().split(' ', Qt::SkipEmptyParts);
    if (words.isEmpty())
        return fail(kWhere, "nothing", "a kind of op, or as kind:attention_past chunk:12 layer:3");
    for (const QString& word : words) {
        const qsizetype colon = word.indexOf(':');
        const QString key = colon < 0 ? QString() : word.left(colon), value = word.mid(colon + 1);
        if (colon < 0 || key == "kind") {
            HEADROOM_CHECK(narrow<OpKind>(query.kinds, value, "kind of op"));
        } else if (key == "stream") {
            HEADROOM_CHECK(narrow<Stream>(query.streams, value, "stream"));
        } else if (key == "pass") {
            HEADROOM_CHECK(narrow<Pass>(query.passes, value, "pass"));
        } else if (key == "chunk") {
            HEADROOM_TRY(query.chunk, numbers(value));
        } else if (key == "layer") {
            HEADROOM_TRY(query.layer, numbers(value));
        } else if (key == "piece") {
            HEADROOM_TRY(query.piece, numbers(value));
        } else {
            return fail(kWhere, "'" + key.toStdString() + ":'",
                        "kind:, chunk:, layer:, piece:, pass: or stream:");
        }
    }
    return query;
}

Hits find_ops(const Timeline& timeline, const OpQuery& query) {
    Hits hits;
    for (size_t i = 0; i < timeline.ops.size(); ++i) {
        const TimelineOp& op = timeline.ops[i];
        if (!query.matches(op)) continue;
        hits.in_time.push_back(static_cast<OpId>(i));
        hits.of_stream[static_cast<size_t>(op.stream)].push_back(static_cast<OpId>(i));
    }
    std::stable_sort(hits.in_time.begin(), hits.in_time.end(),
                     [&](OpId a, OpId b) { return timeline.ops[a].start_ns < timeline.ops[b].start_ns; });
    return hits;
}

size_t Hits::position(const Timeline& timeline, OpId op) const {
    if (op == kNone) return npos;
    const auto at = std::lower_bound(in_time.begin(), in_time.end(), op, [&](OpId a, OpId b) {
        const int64_t sa = timeline.ops[a].start_ns, sb = timeline.ops[b].start_ns;
        return sa != sb ? sa < sb : a < b;
    });
    return at != in_time.end() && *at == op ? static_cast<size_t>(at - in_time.begin()) : npos;
}

OpId Hits::step(const Timeline& timeline, OpId from, int64_t ns, int by) const {
    if (in_time.empty()) return kNone;
    const size_t n = in_time.size();
    const size_t at = position(timeline, from);
    if (at != npos) return in_time[by > 0 ? (at + 1) % n : (at + n - 1) % n];
    if (from != kNone) ns = timeline.ops[from].start_ns;
    const auto first = std::partition_point(in_time.begin(), in_time.end(),
                                            [&](OpId op) { return timeline.ops[op].start_ns < ns; });
    const auto after = static_cast<size_t>(first - in_time.begin());
    return in_time[by > 0 ? after % n : (after + n - 1) % n];
}

}  // namespace headroom::gui
