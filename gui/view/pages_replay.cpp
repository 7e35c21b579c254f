// Controls and replay of the page view.
#include <QBoxLayout>
#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <QToolButton>
#include <cmath>

#include "gui/model/text.h"
#include "gui/view/pages_view.h"
#include "gui/view/traffic_chart.h"

namespace headroom::gui {
namespace {

constexpr int kSliderSteps = 10'000;

QLabel* label_for(QWidget* control, const QString& text) {
    auto* label = new QLabel(text);
    label->setBuddy(control);
    return label;
}

}  // namespace

QLayout* PagesView::make_controls() {
    layer_->setRange(kAllLayers, kAllLayers);
    layer_->setSpecialValueText(tr("all layers"));
    layer_->setValue(kAllLayers);
    layer_->setMinimumWidth(110);
    layer_->setAccessibleName(tr("Layer"));
    layer_->setToolTip(tr("One layer, or the share of all layers that read a page"));
    layer_->setObjectName("layer");
    pass_->addItems({tr("fill pass: K and V"), tr("gradient pass: dK and dV")});
    pass_->setAccessibleName(tr("Pass"));
    pass_->setToolTip(
        tr("The fill pass makes K and V of each chunk; the gradient pass goes back from the last chunk"));
    pass_->setObjectName("pass");
    unit_->addItems({tr("pages"), tr("bytes")});
    unit_->setAccessibleName(tr("Bars count"));
    unit_->setToolTip(tr("What the bars below the map count: pages or bytes that travel for each chunk"));
    unit_->setObjectName("unit");
    auto* all = new QToolButton;
    all->setText(tr("Show all"));
    all->setToolTip(tr("Show the whole map (F)"));
    all->setObjectName("show_all");
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    row->addWidget(label_for(layer_, tr("&Layer")));
    row->addWidget(layer_);
    row->addSpacing(12);
    row->addWidget(label_for(pass_, tr("&Pass")));
    row->addWidget(pass_);
    row->addSpacing(12);
    row->addWidget(label_for(unit_, tr("&Bars in")));
    row->addWidget(unit_);
    row->addSpacing(12);
    row->addWidget(all);
    row->addStretch(1);
    connect(layer_, &QSpinBox::valueChanged, this, &PagesView::show_pass);
    connect(pass_, &QComboBox::currentIndexChanged, this, &PagesView::show_pass);
    connect(unit_, &QComboBox::currentIndexChanged, this, &PagesView::show_pass);
    connect(all, &QToolButton::clicked, map_, &PageMapWidget::show_all);
    return row;
}

QLayout* PagesView::make_replay() {
    play_->setCheckable(true);
    play_->setObjectName("play");
    play_->setMinimumWidth(76);
    play_->setText(tr("Play"));
    play_->setToolTip(tr("Play or pause the replay (Space)"));
    slider_->setRange(0, kSliderSteps);
    slider_->setPageStep(kSliderSteps / 20);
    slider_->setSingleStep(kSliderSteps / 200);
    slider_->setObjectName("time");
    slider_->setAccessibleName(tr("Instant of the step"));
    slider_->setToolTip(tr("The instant of the step that the map is shown at"));
    // Seconds that the whole step takes to replay.
    for (const int seconds : {10, 30, 60, 120}) speed_->addItem(tr("step in %1 s").arg(seconds), seconds);
    speed_->addItem(tr("real time"), 0);
    speed_->setCurrentIndex(1);
    speed_->setAccessibleName(tr("Speed of the replay"));
    speed_->setToolTip(tr("How long the replay of the whole step takes"));
    speed_->setObjectName("speed");
    now_text_->setMinimumWidth(
        fontMetrics().horizontalAdvance("00 min 00.0 s: gradient pass, layer 00, chunk 0,000 "));
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    row->addWidget(play_);
    row->addWidget(slider_, 1);
    row->addWidget(now_text_);
    row->addWidget(speed_);
    connect(play_, &QToolButton::toggled, this, &PagesView::play);
    connect(slider_, &QSlider::valueChanged, this, [this](int value) {
        const int64_t whole = focus().whole().end_ns;
        focus().set_cursor(static_cast<int64_t>(static_cast<double>(whole) * value / kSliderSteps));
    });
    return row;
}

void PagesView::follow_cursor() {
    const std::optional<int64_t> ns = focus().cursor_ns();
    map_->set_now(ns);
    const int64_t whole = focus().whole().end_ns;
    const QSignalBlocker quiet(slider_);
    const double share = ns && whole > 0 ? static_cast<double>(*ns) / static_cast<double>(whole) : 0;
    slider_->setValue(static_cast<int>(std::lround(share * kSliderSteps)));
    const WorkSpan* span = ns && data_ ? data_->times.at(*ns) : nullptr;
    const bool of_pass = span != nullptr && (span->pass == Pass::fill || span->pass == Pass::gradient);
    if (playing() && of_pass && span->pass != pass())
        pass_->setCurrentIndex(span->pass == Pass::gradient ? 1 : 0);
    const bool here = of_pass && span->pass == pass() && data_ && span->chunk < data_->map.chunks;
    chart_->set_chunk(here ? std::optional<int64_t>(span->chunk) : std::nullopt);
    QString text;
    if (ns) text = time_text(*ns);
    if (span != nullptr) text += ": " + place_text(span->chunk, span->layer, 0, span->pass);
    now_text_->setText(ns ? text : tr("whole step"));
}

void PagesView::play(bool on) {
    if (on && (!data_ || focus().whole().empty())) on = false;
    const QSignalBlocker quiet(play_);
    play_->setChecked(on);
    play_->setText(on ? tr("Pause") : tr("Play"));
    if (!on) return timer_.stop();
    const int64_t end = focus().whole().end_ns;
    if (focus().cursor_ns().value_or(end) >= end) focus().set_cursor(0);
    since_tick_.start();
    timer_.start();
    follow_cursor();
}

void PagesView::tick() {
    const int64_t end = focus().whole().end_ns;
    const double passed_s = static_cast<double>(since_tick_.restart()) * 1e-3;
    const int whole_s = speed_->currentData().toInt();
    const double by_ns = whole_s == 0 ? passed_s * 1e9 : static_cast<double>(end) * passed_s / whole_s;
    const int64_t to = focus().cursor_ns().value_or(0) + static_cast<int64_t>(by_ns);
    focus().set_cursor(std::min(to, end));
    if (to >= end) play(false);
}

void PagesView::step_to(int direction) {
    if (!data_) return;
    const std::vector<WorkSpan>& spans = data_->times.spans;
    const WorkSpan* now = data_->times.at(focus().cursor_ns().value_or(0));
    if (now == nullptr) return;
    // Spans of the same chunk and pass lie side by side, one for each layer.
    auto i = now - spans.data();
    const auto same = [&](ptrdiff_t a, ptrdiff_t b) {
        return spans[static_cast<size_t>(a)].chunk == spans[static_cast<size_t>(b)].chunk &&
               spans[static_cast<size_t>(a)].pass == spans[static_cast<size_t>(b)].pass;
    };
    const auto count = static_cast<ptrdiff_t>(spans.size());
    const ptrdiff_t from = i;
    while (i >= 0 && i < count && same(i, from)) i += direction;
    if (i < 0 || i >= count) return;
    if (direction < 0) {  // to its beginning
        while (i > 0 && same(i - 1, i)) --i;
    }
    focus().set_cursor(spans[static_cast<size_t>(i)].start_ns);
    const Pass pass_now = spans[static_cast<size_t>(i)].pass;
    if (pass_now == Pass::fill || pass_now == Pass::gradient)
        pass_->setCurrentIndex(pass_now == Pass::gradient ? 1 : 0);
}

void PagesView::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Space:
            return play(!playing());
        case Qt::Key_Comma:
            return step_to(-1);
        case Qt::Key_Period:
            return step_to(1);
        case Qt::Key_P:
            return pass_->setCurrentIndex(1 - pass_->currentIndex());
        case Qt::Key_BracketLeft:
            return layer_->setValue(layer_->value() - 1);
        case Qt::Key_BracketRight:
            return layer_->setValue(layer_->value() + 1);
        default:
            View::keyPressEvent(event);
    }
}

}  // namespace headroom::gui
