#include "gui/model/comparison.h"

#include <QCoreApplication>
#include <cmath>

#include "gui/model/text.h"
#include "timeline/excerpt.h"

namespace headroom::gui {
namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("headroom::gui::Comparison", text);
}

int64_t duration(const Step& step, OpId op) {
    return step.timeline.ops[op].end_ns - step.timeline.ops[op].start_ns;
}

// Index of the value that is called `name`; `count`: none is.
template <class Named>
size_t index_of(std::string_view name, size_t count) {
    size_t i = 0;
    while (i < count && name_of(static_cast<Named>(i)) != name) ++i;
    return i;
}

// What `part`, an excerpt, has of it.
Result<StepPtr> cut_step(const Step& whole, const Step& part) {
    HEADROOM_TRY(Timeline cut, cut_like(whole.timeline, part.timeline, whole.name.toStdString()));
    return make_step(whole.name, std::move(cut));
}

}  // namespace

Result<StepPtr> step_with_selection(const Step& measured, const Progress& progress) {
    Plan plan = *measured.plan;
    plan.selection.recorded = measured.selection;
    return predicted_step(plan, progress);
}

int64_t StepComparison::difference_ns(OpId op) const {
    return duration(*predicted, op) - duration(*measured, op);
}

Result<ComparisonPtr> compare_steps(StepPtr predicted, StepPtr measured) {
    auto made = std::make_shared<StepComparison>();
    // Of a long step only some chunks may have been kept: the other one is shown as far.
    if (predicted->timeline.excerpt.empty() && !measured->timeline.excerpt.empty()) {
        HEADROOM_TRY(predicted, cut_step(*predicted, *measured));
    } else if (!predicted->timeline.excerpt.empty() && measured->timeline.excerpt.empty()) {
        HEADROOM_TRY(measured, cut_step(*measured, *predicted));
    }
    HEADROOM_TRY(made->figures, compare(predicted->timeline, measured->timeline));
    made->predicted = std::move(predicted);
    made->measured = std::move(measured);
    made->worst_of_kind.fill(kNone);
    made->worst_of_stream.fill(kNone);
    const auto& ops = made->measured->timeline.ops;
    const auto keep_worse = [&](OpId& worst, OpId op) {
        if (worst == kNone || std::abs(made->difference_ns(op)) > std::abs(made->difference_ns(worst)))
            worst = op;
    };
    for (OpId op = 0; op < ops.size(); ++op) {
        keep_worse(made->worst, op);
        keep_worse(made->worst_of_kind[static_cast<size_t>(ops[op].kind)], op);
        keep_worse(made->worst_of_stream[static_cast<size_t>(ops[op].stream)], op);
    }
    return made;
}

Place place_of(const StepComparison& c, const Difference& row) {
    Place place;
    const std::string_view first = std::string_view(row.what).substr(0, row.what.find(' '));
    if (row.group == "step") place.op = c.worst;
    if (row.group == "kind") {
        const size_t kind = index_of<OpKind>(row.what, kOpKinds);
        if (kind < kOpKinds) place.op = c.worst_of_kind[kind];
    }
    if (row.group == "stream") {
        const size_t stream = index_of<Stream>(first, kStreams);
        if (stream < kStreams) place.op = c.worst_of_stream[stream];
    }
    if (row.group == "tier") {
        const size_t tier = index_of<Tier>(first, kTiers);
        if (tier < kTiers) place.instant_ns = c.measured->statistics.peaks[tier].time_ns;
    }
    return place;
}

const Difference* worst_kind(const StepComparison& c) {
    const Difference* worst = nullptr;
    for (const Difference& d : c.figures.differences) {
        if (d.group != "kind" || !d.judged) continue;
        if (worst == nullptr || std::abs(d.error) > std::abs(worst->error)) worst = &d;
    }
    return worst;
}

QString error_text(double error) {
    if (std::isinf(error)) return error > 0 ? tr("new") : tr("gone");
    return QString::asprintf("%+.1f %%", 100 * error);
}

QString op_difference_text(const StepComparison& c, OpId op) {
    const TimelineOp& p = c.predicted->timeline.ops[op];
    const TimelineOp& m = c.measured->timeline.ops[op];
    const int64_t predicted = p.end_ns - p.start_ns, measured = m.end_ns - m.start_ns;
    const double error = predicted == measured ? 0
                         : measured == 0
                             ? INFINITY
                             : static_cast<double>(predicted - measured) / static_cast<double>(measured);
    const int64_t early = m.start_ns - p.start_ns;
    QString text =
        tr("op %1, %2 (%3): predicted %4, measured %5 (%6)")
            .arg(QString::number(op), label_of(p.kind), place_text(p.chunk, p.layer, p.piece, p.pass),
                 time_text(predicted), time_text(measured), error_text(error));
    if (early != 0)
        text += (early > 0 ? tr("; predicted to start %1 earlier") : tr("; predicted to start %1 later"))
                    .arg(time_text(std::abs(early)));
    return text;
}

}  // namespace headroom::gui
