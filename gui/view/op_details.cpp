#include "gui/view/op_details.h"

#include <QEvent>
#include <algorithm>

#include "gui/model/stalls.h"
#include "gui/model/text.h"

namespace headroom::gui {
namespace {

constexpr size_t kMostLinks = 16;

QString link(const Step& step, OpId op) {
    return QString("<a href=\"op:%1\">%2</a>").arg(op).arg(op_text(step.timeline.ops[op]).toHtmlEscaped());
}

// One op a line; on which stream, and how long before or after this one.
QString links(const Step& step, std::span<const OpId> ops) {
    if (ops.empty()) return OpDetails::tr("nothing");
    QStringList lines;
    for (const OpId op : ops.first(std::min(ops.size(), kMostLinks)))
        lines << OpDetails::tr("%1 on %2").arg(link(step, op), label_of(step.timeline.ops[op].stream));
    if (ops.size() > kMostLinks)
        lines << OpDetails::tr("and %1 more").arg(count_text(static_cast<int64_t>(ops.size() - kMostLinks)));
    return lines.join("<br>");
}

QString row(const QString& name, const QString& value) {
    return QString("<tr><td style=\"padding-right:14px; white-space:nowrap\">%1</td><td>%2</td></tr>")
        .arg(name, value);
}

}  // namespace

OpDetails::OpDetails(QWidget* parent) : QTextBrowser(parent) {
    setOpenLinks(false);
    setAccessibleName(tr("Details of the selected op"));
    setMinimumWidth(220);
    connect(this, &QTextBrowser::anchorClicked, this, [this](const QUrl& url) {
        bool good = false;
        const uint op = url.path().toUInt(&good);
        if (good && url.scheme() == "op") Q_EMIT followed(op);
    });
    write();
}

void OpDetails::show_op(StepPtr step, OpId op) {
    if (step == step_ && op == op_) return;
    step_ = std::move(step);
    op_ = op;
    write();
}

void OpDetails::changeEvent(QEvent* event) {
    QTextBrowser::changeEvent(event);
    // Links take their colour when the text is set.
    if (event->type() == QEvent::PaletteChange) write();
}

void OpDetails::write() {
    if (!step_ || op_ >= step_->timeline.ops.size()) {
        setHtml("<p>" + tr("Click an op, or step with the left and right arrow, to see all about it.") +
                "</p>");
        return;
    }
    const TimelineOp& op = step_->timeline.ops[op_];
    const int64_t length = op.end_ns - op.start_ns;
    QString html =
        "<h3>" + label_of(op.kind).toHtmlEscaped() + "</h3><table cellspacing=\"0\" cellpadding=\"1\">";
    html += row(tr("Stream"), label_of(op.stream));
    html += row(tr("Pass"), label_of(op.pass));
    if (op.chunk != kNone) html += row(tr("Chunk"), count_text(op.chunk));
    if (op.layer != kNoLayer) html += row(tr("Layer"), count_text(op.layer));
    if (op.piece != 0) html += row(tr("Piece"), count_text(op.piece));
    if (op.sequence != 0) html += row(tr("Sequence"), count_text(op.sequence));
    html += row(tr("Start"), instant_text(op.start_ns));
    html += row(tr("Duration"), tr("%1 (%2 ns)").arg(time_text(length), count_text(length)));
    if (op.bytes > 0)
        html += row(tr("Bytes"), tr("%1, %2").arg(bytes_text(op.bytes), rate_text(op.bytes, length)));
    if (op.flops > 0)
        html += row(tr("FLOPs"), tr("%1 GFLOP, %2")
                                     .arg(static_cast<double>(op.flops) * 1e-9, 0, 'f', 1)
                                     .arg(flop_rate_text(static_cast<double>(op.flops), length)));
    const Stall stall = stall_before(*step_, op_);
    if (stall.length_ns() > 0) html += row(tr("Idle before"), time_text(stall.length_ns()));
    html += row(tr("Waits for"), links(*step_, waits_of(step_->timeline, op_)));
    html += row(tr("Waited by"), links(*step_, step_->index.waiters_of(op_)));
    for (const int by : {-1, 1}) {
        const OpId other = neighbour(step_->timeline, step_->index, op_, by);
        if (other != kNone) html += row(by < 0 ? tr("Before it") : tr("After it"), link(*step_, other));
    }
    html += row(tr("Id"), count_text(op_)) + "</table>";
    setHtml(html);
}

}  // namespace headroom::gui
