// Which ops are looked for: "kind:attention_past chunk:12 layer:3", "load pages", "pass:gradient chunk:8-15".
//
// Words narrow each other down. A bare word is part of a kind's name; keys: kind (a whole name or part of
// one), stream, pass, chunk, layer, piece (a number or a range "3-7").
#pragma once

#include <QString>
#include <QStringList>
#include <array>
#include <optional>
#include <vector>

#include "base/result.h"
#include "gui/model/step.h"

namespace headroom::gui {

struct OpQuery {
    struct Numbers {
        uint32_t first = 0, last = 0;
    };
    std::array<bool, kOpKinds> kinds{};
    std::array<bool, kStreams> streams{};
    std::array<bool, static_cast<size_t>(Pass::count_)> passes{};
    std::optional<Numbers> chunk, layer, piece;

    bool matches(const TimelineOp& op) const;
};
// Error: the word, what was found, and what is allowed. Empty text is one too.
Result<OpQuery> parse_query(const QString& text);

struct Hits {
    std::vector<OpId> in_time;                          // by start, then id
    std::array<std::vector<OpId>, kStreams> of_stream;  // ids ascending
    // The next hit after `from` (before it where `by` is -1), round the ends; kNone where there are none.
    // From kNone: the first that starts at or after `ns` (the last before it).
    OpId step(const Timeline& timeline, OpId from, int64_t ns, int by) const;
    // Position of `op` in in_time; npos: it is no hit.
    static constexpr size_t npos = static_cast<size_t>(-1);
    size_t position(const Timeline& timeline, OpId op) const;
};
// Cost: linear in ops, and the sorting of the hits; for worker threads.
Hits find_ops(const Timeline& timeline, const OpQuery& query);

}  // namespace headroom::gui
