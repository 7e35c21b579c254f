#include "gui/view/memory_view.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QShortcut>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/model/text.h"
#include "gui/view/controls.h"
#include "gui/view/splitter.h"

namespace headroom::gui {

MemoryView::MemoryView(Document& document, Focus& focus)
    : View(tr("Memory"), document, focus),
      canvas_(new MemoryCanvas(focus)),
      instant_(new MemoryInstantModel(this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(make_bar());
    auto* split = new Splitter(Qt::Horizontal, tr("Width of the curves"));
    split->addWidget(canvas_);
    split->addWidget(make_side());
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 0);
    column->addWidget(split, 1);
    setFocusProxy(canvas_);
    set_palette(colours());

    connect(&document, &Document::steps_changed, this, &MemoryView::take_step);
    connect(&focus, &Focus::cursor_changed, this, &MemoryView::tell_instant);
    auto* peak = new QShortcut(Qt::Key_P, this);
    peak->setContext(Qt::WidgetWithChildrenShortcut);
    connect(peak, &QShortcut::activated, this, [this] { go_to_peak(0); });
    take_step();
}

QWidget* MemoryView::make_bar() {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(8, 6, 8, 6);
    peaks_ = new QHBoxLayout;
    for (size_t tier = 0; tier < kTiers; ++tier) {
        const QString name = label_of(static_cast<Tier>(tier));
        QToolButton* made =
            tool_button(this, tr("Peak of %1").arg(name),
                        tr("Show the instant at which %1 is fullest").arg(name), [this, tier] {
                            for (size_t i = 0; curves_ && i < curves_->size(); ++i) {
                                if ((*curves_)[i].tier() == static_cast<Tier>(tier)) go_to_peak(i);
                            }
                        });
        made->setObjectName("peak_" + text_of(name_of(static_cast<Tier>(tier))));
        peaks_->addWidget(made);
    }
    near_ = new QCheckBox(tr("Fit bytes to the view"));
    near_->setToolTip(
        tr("Each strip from the least to the most bytes in view, so that small changes are seen; "
           "otherwise from 0 to the budget"));
    connect(near_, &QCheckBox::toggled, canvas_, &MemoryCanvas::set_near_bytes);
    row->addLayout(peaks_);
    row->addStretch(1);
    row->addWidget(near_);
    row->addWidget(tool_button(this, "+", tr("Zoom in (W)"), [this] { canvas_->zoom_by(0.5); }));
    row->addWidget(
        tool_button(this, QString(QChar(0x2212)), tr("Zoom out (S)"), [this] { canvas_->zoom_by(2); }));
    row->addWidget(tool_button(this, tr("Fit"),
                               tr("Fit the marked range or the selection; again: the whole step (F)"),
                               [this] { canvas_->fit(); }));
    return bar;
}

QWidget* MemoryView::make_side() {
    auto* side = new QWidget;
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    instant_text_ = new QLabel;
    instant_text_->setContentsMargins(8, 5, 8, 5);
    instant_text_->setWordWrap(true);
    table_ = new QTableView;
    table_->setAccessibleName(tr("Bytes at the instant"));
    table_->setModel(instant_);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setShowGrid(false);
    table_->setFrameShape(QFrame::NoFrame);
    table_->setTabKeyNavigation(false);
    table_->setWordWrap(false);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 6);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setSectionResizeMode(MemoryInstantModel::kName, QHeaderView::Stretch);
    const QFontMetrics metrics = table_->fontMetrics();
    table_->setColumnWidth(MemoryInstantModel::kBytes, metrics.horizontalAdvance("1023.99 GiB") + 18);
    table_->setColumnWidth(MemoryInstantModel::kShare, metrics.horizontalAdvance("100.0 %") + 18);
    table_->setMinimumWidth(metrics.horizontalAdvance("headroom of 1023.99 GiB  1023.99 GiB 100.0 %") + 60);
    connect(instant_, &QAbstractItemModel::modelReset, this, [this] {
        table_->clearSpans();
        for (int row = 0; row < instant_->rowCount(); ++row) {
            if (instant_->is_wide(row)) table_->setSpan(row, 0, 1, MemoryInstantModel::kColumns);
        }
    });
    column->addWidget(instant_text_);
    column->addWidget(table_, 1);
    return side;
}

void MemoryView::set_palette(const Palette& palette) {
    View::set_palette(palette);
    canvas_->set_palette(palette);
    instant_->set_colours([palette](Category category) { return palette.of(category); });
}

QList<KeyHelp> MemoryView::keys() const {
    return TimeCanvas::keys() +
           QList<KeyHelp>{{tr("Left, Right"), tr("move the cursor from change to change")},
                          {tr("P"), tr("the fullest instant of the device")}};
}

void MemoryView::take_step() {
    if (step_ && step_ == document().step()) return;  // the one beside it changed
    step_ = document().step();
    curves_ = nullptr;
    canvas_->set_curves(nullptr, nullptr);
    canvas_->set_empty_text(step_
                                ? tr("Preparing %1 samples of memory")
                                      .arg(count_text(static_cast<int64_t>(step_->timeline.memory.size())))
                                : tr("There is no step to show yet. Open a scenario, a plan or a timeline; a "
                                     "scenario's memory is shown as soon as its step is simulated."));
    for (size_t i = 0; i < kTiers; ++i) peaks_->itemAt(static_cast<int>(i))->widget()->hide();
    tell_instant();
    preparing_.cancel();
    if (!step_) return;
    using Made = std::shared_ptr<const MemoryCurves>;
    preparing_.start<Made>(
        [step = step_](const Progress& progress) -> Result<Made> {
            auto curves = std::make_shared<MemoryCurves>();
            for (size_t tier = 0; tier < kTiers; ++tier) {
                if (!progress("memory", -1)) return fail("memory", "interrupted", "", Fault::interrupted);
                MemoryCurve curve(step->timeline, static_cast<Tier>(tier));
                if (!curve.empty()) curves->push_back(std::move(curve));
            }
            return curves;
        },
        [this](Result<Made> made) {
            if (made) take_curves(std::move(*made));
        });
}

void MemoryView::take_curves(std::shared_ptr<const MemoryCurves> curves) {
    curves_ = std::move(curves);
    canvas_->set_empty_text(tr("This timeline has no samples of memory."));
    canvas_->set_curves(step_, curves_);
    for (const MemoryCurve& curve : *curves_)
        peaks_->itemAt(static_cast<int>(curve.tier()))->widget()->show();
    tell_instant();
}

int64_t MemoryView::shown_ns() const {
    if (const std::optional<int64_t> cursor = focus().cursor_ns()) return *cursor;
    return has_content() ? curves_->front().time_ns(curves_->front().peak()) : 0;
}

void MemoryView::tell_instant() {
    if (!has_content()) {
        instant_text_->clear();
        instant_->set(nullptr, {});
        return;
    }
    MemoryInstant instant;
    instant.ns = shown_ns();
    for (const MemoryCurve& curve : *curves_) {
        TierInstant tier{curve.tier(), curve.capacity_bytes(), {}};
        const std::vector<int64_t> bytes = curve.bytes_at(curve.instant_at(instant.ns));
        for (size_t c = 0; c < bytes.size(); ++c)
            tier.categories.emplace_back(curve.categories()[c], bytes[c]);
        instant.tiers.push_back(std::move(tier));
    }
    for (size_t s = 0; s < kStreams; ++s)
        instant.running[s] = running_at(step_->timeline, step_->index.streams[s], instant.ns);
    instant_text_->setText(
        focus().cursor_ns()
            ? tr("At %1").arg(instant_text(instant.ns))
            : tr("At the peak of %1, %2").arg(label_of(curves_->front().tier()), instant_text(instant.ns)));
    instant_->set(step_, std::move(instant));
}

void MemoryView::go_to_peak(size_t curve) {
    if (!curves_ || curve >= curves_->size()) return;
    const int64_t ns = (*curves_)[curve].time_ns((*curves_)[curve].peak());
    focus().reveal(ns, ns + 1);
    focus().set_cursor(ns);
}

QByteArray MemoryView::csv() const {
    const MemoryStrips* strips = canvas_->strips();
    if (!has_content() || strips == nullptr) return {};
    QByteArray text = "tier,time_ns,total_bytes,capacity_bytes";
    std::vector<Category> all;
    for (size_t c = 0; c < kCategories; ++c) {
        const auto category = static_cast<Category>(c);
        for (const MemoryCurve& curve : *curves_) {
            if (std::find(curve.categories().begin(), curve.categories().end(), category) ==
                curve.categories().end())
                continue;
            all.push_back(category);
            text += "," + text_of(name_of(category)).toUtf8() + "_bytes";
            break;
        }
    }
    text += "\n";
    for (size_t i = 0; i < curves_->size(); ++i) {
        const MemoryCurve& curve = (*curves_)[i];
        const MemoryList& list = strips->strips[i];
        const QByteArray tier = text_of(name_of(curve.tier())).toUtf8();
        for (size_t column = 0; column < list.columns.size(); ++column) {
            const MemoryColumn& at = list.columns[column];
            text += tier + "," + QByteArray::number(static_cast<qlonglong>(curve.time_ns(at.instant))) + "," +
                    QByteArray::number(static_cast<qlonglong>(at.total_bytes)) + "," +
                    QByteArray::number(static_cast<qlonglong>(curve.capacity_bytes()));
            for (const Category category : all) {
                const auto place = std::find(curve.categories().begin(), curve.categories().end(), category);
                const int64_t bytes =
                    place == curve.categories().end()
                        ? 0
                        : list.bytes_of(column)[static_cast<size_t>(place - curve.categories().begin())];
                text += "," + QByteArray::number(static_cast<qlonglong>(bytes));
            }
            text += "\n";
        }
    }
    return text;
}

void MemoryView::draw(QPainter& painter) {
    canvas_->make_strips_now();
    View::draw(painter);
}

}  // namespace headroom::gui
