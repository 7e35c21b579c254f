#include "gui/view/pages_view.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <QStackedLayout>
#include <QToolButton>

#include "gui/model/text.h"
#include "gui/view/legend_bar.h"
#include "gui/view/page_cell_text.h"
#include "gui/view/page_table.h"
#include "gui/view/traffic_chart.h"

namespace headroom::gui {
namespace {

// Where the pages that are shown as selected come from; empty where attention is dense.
QString selection_words(const Step& step) {
    if (!step.plan->decisions.attention.sparse) return {};
    const SelectionModel& planned = step.plan->selection;
    if (step.selection)
        return PagesView::tr("Pages as this run selected them (%1).").arg(text_of(step.selection->source));
    const QString drawn =
        planned.recorded
            ? PagesView::tr("Pages as recorded for the plan (%1)").arg(text_of(planned.recorded->source))
            : PagesView::tr("Pages as the model of selections draws them (%1)").arg(text_of(planned.source));
    if (!step.measured()) return drawn + '.';
    return drawn +
           (step.selection_error.empty()
                ? PagesView::tr("; those that this run selected were not recorded beside its timeline.")
                : "; " + text_of(step.selection_error));
}

}  // namespace

PagesView::PagesView(Document& document, Focus& focus, QWidget* parent)
    : View(tr("Page traffic"), document, focus, parent),
      pages_(new QStackedLayout(this)),
      missing_(new QLabel),
      body_(new QWidget),
      layer_(new QSpinBox),
      pass_(new QComboBox),
      unit_(new QComboBox),
      speed_(new QComboBox),
      map_legend_(new LegendBar(PageMapWidget::kLeft)),
      chart_legend_(new LegendBar(PageMapWidget::kLeft)),
      map_(new PageMapWidget),
      chart_(new TrafficChart),
      selection_text_(new QLabel),
      cell_text_(new QLabel),
      now_text_(new QLabel),
      play_(new QToolButton),
      slider_(new QSlider(Qt::Horizontal)) {
    missing_->setAlignment(Qt::AlignCenter);
    missing_->setWordWrap(true);
    cell_text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    cell_text_->setMinimumWidth(1);  // long words must not widen the window
    cell_text_->setContentsMargins(PageMapWidget::kLeft, 0, 0, 0);
    auto* column = new QVBoxLayout(body_);
    column->setContentsMargins(8, 8, 8, 8);
    column->setSpacing(4);
    column->addLayout(make_controls());
    selection_text_->setObjectName("selection_source");
    selection_text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    selection_text_->setWordWrap(true);
    selection_text_->setContentsMargins(PageMapWidget::kLeft, 0, 0, 0);
    column->addWidget(selection_text_);
    column->addWidget(map_legend_);
    column->addWidget(map_, 3);
    column->addWidget(cell_text_);
    column->addWidget(chart_legend_);
    column->addWidget(chart_, 1);
    column->addLayout(make_replay());
    pages_->addWidget(missing_);
    pages_->addWidget(body_);

    connect(&document, &Document::steps_changed, this, &PagesView::take_step);
    connect(&focus, &Focus::cursor_changed, this, &PagesView::follow_cursor);
    connect(&focus, &Focus::selected_changed, this, &PagesView::follow_selection);
    connect(map_, &PageMapWidget::window_changed, this, &PagesView::show_traffic);
    connect(map_, &PageMapWidget::cell_changed, this, &PagesView::tell_cell);
    connect(map_, &PageMapWidget::cell_chosen, this, &PagesView::go_to_cell);
    connect(&timer_, &QTimer::timeout, this, &PagesView::tick);
    timer_.setInterval(33);
    take_step();
}

Pass PagesView::pass() const {
    return pass_->currentIndex() == 1 ? Pass::gradient : Pass::fill;
}

int PagesView::layer() const {
    return layer_->value();
}

void PagesView::set_palette(const Palette& palette) {
    View::set_palette(palette);
    map_->set_palette(palette);
    chart_->set_palette(palette);
    map_legend_->set_palette(palette);
    chart_legend_->set_palette(palette);
    update_legends();
}

void PagesView::take_step() {
    play(false);
    const StepPtr step = document().step();
    const bool usable = step && step->plan && step->plan->chunks() > 1;
    if (!usable) {
        making_.cancel();
        data_ = nullptr;
        map_->set_data(nullptr);
        chart_->show_traffic(nullptr, pass(), layer(), TrafficUnit::pages, {});
        QString why = tr(
            "Open a scenario, a plan or a timeline: its pages are shown as soon as its step is simulated.");
        if (step && !step->plan)
            why = tr("The plan of this timeline cannot be read, and with it where its pages live: %1")
                      .arg(QString::fromStdString(step->plan_error));
        else if (step)
            why =
                tr("This plan takes the whole sequence as one chunk: no page of a past is read, so there is "
                   "no page traffic.");
        missing_->setText(why);
        pages_->setCurrentWidget(missing_);
        return;
    }
    selection_text_->setText(selection_words(*step));
    selection_text_->setVisible(!selection_text_->text().isEmpty());
    making_.start<PagesPtr>(
        [step](const Progress& progress) -> Result<PagesPtr> {
            progress("pages", -1);
            Plan plan = *step->plan;
            if (step->selection) plan.selection.recorded = step->selection;
            const int64_t chunks = plan.chunks(), layers = plan.model.layer_count();
            return std::make_shared<const PagesData>(
                PagesData{make_page_map(plan, step->timeline), chunk_times(step->timeline, chunks, layers),
                          traffic_table(step->timeline, chunks, layers)});
        },
        [this](Result<PagesPtr> made) {
            data_ = std::move(*made);
            const QSignalBlocker quiet(layer_);
            const int last = static_cast<int>(data_->map.layers) - 1;
            if (layer_->value() > last) layer_->setValue(kAllLayers);
            layer_->setMaximum(last);
            map_->look_at(pass(), layer());
            map_->set_data(data_);
            pages_->setCurrentWidget(body_);
            show_pass();
            follow_selection();
        });
}

void PagesView::show_pass() {
    map_->look_at(pass(), layer());
    show_traffic();
    update_legends();
    tell_cell();
    follow_cursor();
}

void PagesView::show_traffic() {
    const auto unit = unit_->currentIndex() == 1 ? TrafficUnit::bytes : TrafficUnit::pages;
    chart_->show_traffic(data_ ? &data_->traffic : nullptr, pass(), layer(), unit, map_->window());
    chart_legend_->set_entries(chart_->legend());
}

void PagesView::update_legends() {
    if (!data_) return;
    const PageMap& map = data_->map;
    const bool gradient = pass() == Pass::gradient;
    const Palette& p = colours();
    std::vector<LegendEntry> entries;
    const std::pair<PastPlace, QString> places[] = {
        {PastPlace::device, tr("device")}, {PastPlace::host, tr("host")}, {PastPlace::disk, tr("disk")}};
    const int64_t all = layer() == kAllLayers ? map.layers : 1;
    for (const auto& [place, name] : places) {
        bool any = false;
        for (int64_t page = 0; page < map.pages && !any; page += map.pages_per_chunk)
            any = map.home(pass(), layer(), page) == place;
        if (!any) continue;
        std::vector<QBrush> shades{cell_colour(value_of({CellState::resident, place, 0}, all), p)};
        if (all > 1) shades.push_back(cell_colour(value_of({CellState::read, place, 1}, all), p));
        shades.push_back(cell_colour(value_of({CellState::read, place, all}, all), p));
        const QString words =
            gradient ? tr("dK, dV on the %1; strong: added to") : tr("K, V on the %1; strong: read");
        entries.push_back({shades, words.arg(name) + (all > 1 ? tr(", by few to all layers") : QString())});
    }
    const auto colour_of = [&](CellState state) {
        return cell_colour(value_of({state, PastPlace::device, 0}, all), p);
    };
    if (map.caches(pass(), layer())) {
        std::vector<QBrush> shades{cell_colour(value_of({CellState::cached, PastPlace::host, all}, all), p)};
        if (all > 1)
            shades.insert(shades.begin(),
                          cell_colour(value_of({CellState::cached, PastPlace::host, 1}, all), p));
        entries.push_back(
            {shades, tr("found in the page cache") + (all > 1 ? tr(", by few to all layers") : QString())});
    }
    if (gradient) {
        entries.push_back({{colour_of(CellState::first_touched)}, tr("first touched")});
        entries.push_back({{colour_of(CellState::own)}, tr("own pages, finished")});
    } else {
        entries.push_back({{colour_of(CellState::own)}, tr("own pages, made")});
    }
    map_legend_->set_entries(std::move(entries));
    chart_legend_->set_entries(chart_->legend());
}

void PagesView::tell_cell() {
    const auto cell = map_->cell();
    const QString text =
        cell && data_ ? page_cell_text(data_->map, pass(), layer(), cell->chunk, cell->page)
                      : tr("Point at a page, or move to it with the arrow keys, to read what becomes of it.");
    cell_text_->setText(text);
    cell_text_->setToolTip(cell ? text : QString());
    map_->setAccessibleDescription(text);
}

// The replay stands where the chunk of the cell is worked on; its attention op is selected.
void PagesView::go_to_cell() {
    const auto cell = map_->cell();
    if (!cell || !data_) return;
    const int64_t at = data_->times.begin(pass(), layer(), cell->chunk);
    if (at == ChunkTimes::kNever) return;
    focus().set_cursor(at);
    const OpId op = data_->times.op_of(pass(), layer(), cell->chunk);
    if (op != kNone) focus().select(op);
}

void PagesView::follow_selection() {
    const StepPtr step = document().step();
    const OpId op = focus().selected();
    std::optional<int64_t> chunk;
    if (step && data_ && op < step->timeline.ops.size() && step->timeline.ops[op].chunk < data_->map.chunks)
        chunk = step->timeline.ops[op].chunk;
    map_->set_selected_chunk(chunk);
}

QByteArray PagesView::csv() const {
    if (!data_) return {};
    return page_table_csv(data_->map, data_->traffic, data_->times, pass(), layer());
}

QList<KeyHelp> PagesView::keys() const {
    return {{tr("Space"), tr("Play or pause the replay")},
            {tr(", ."), tr("To the chunk worked on before, or next")},
            {tr("Left Right Up Down"), tr("Move to a chunk or page of the map (Shift: 16 at once)")},
            {tr("Enter"), tr("Replay at the marked chunk")},
            {tr("W A S D"), tr("Pan the map")},
            {tr("+ - F"), tr("Zoom in, zoom out, show all")},
            {tr("P"), tr("Other pass: fill or gradient")},
            {tr("[ ]"), tr("Layer before, layer after")},
            {tr("Wheel"), tr("Zoom at the pointer (Shift: pages only, Ctrl: chunks only)")}};
}

}  // namespace headroom::gui
