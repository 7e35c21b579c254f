#include "gui/paint/palette.h"

#include <algorithm>
#include <cmath>

namespace headroom::gui {
namespace {

// Hue, saturation and lightness as people name them: degrees and percent.
QColor hsl(int hue, int saturation, int lightness) {
    return QColor::fromHslF(static_cast<float>(hue) / 360.0F, static_cast<float>(saturation) / 100.0F,
                            static_cast<float>(lightness) / 100.0F);
}

struct Tone {
    int hue, saturation, lightness;
};

Tone tone_of(OpKind kind) {
    switch (kind) {
        case OpKind::attention_own:
            return {265, 45, 62};
        case OpKind::attention_past:
            return {265, 55, 52};
        case OpKind::merge:
            return {265, 25, 70};
        case OpKind::attention_own_backward:
            return {290, 42, 58};
        case OpKind::attention_past_backward:
            return {290, 50, 46};
        case OpKind::page_means:
        case OpKind::select:
            return {235, 50, 64};
        case OpKind::gather_pages:
            return {235, 35, 72};
        case OpKind::accumulate_kv_gradients:
            return {235, 40, 52};
        case OpKind::qkv:
            return {210, 60, 60};
        case OpKind::attention_out:
            return {210, 50, 68};
        case OpKind::gate_up:
        case OpKind::router:
            return {210, 60, 50};
        case OpKind::down:
            return {210, 60, 41};
        case OpKind::lora:
            return {195, 55, 55};
        case OpKind::qkv_backward:
            return {185, 50, 50};
        case OpKind::attention_out_backward:
            return {185, 42, 64};
        case OpKind::gate_up_backward:
        case OpKind::router_backward:
            return {185, 55, 40};
        case OpKind::down_backward:
            return {185, 60, 31};
        case OpKind::lora_backward:
            return {195, 50, 42};
        case OpKind::weight_gradient:
            return {165, 50, 40};
        case OpKind::head:
        case OpKind::loss:
            return {330, 50, 60};
        case OpKind::head_backward:
            return {330, 50, 48};
        case OpKind::embed:
        case OpKind::norm:
        case OpKind::rope:
        case OpKind::activation:
            return {215, 14, 66};
        case OpKind::embed_backward:
        case OpKind::norm_backward:
        case OpKind::rope_backward:
        case OpKind::activation_backward:
            return {215, 14, 52};
        case OpKind::zero:
        case OpKind::gradient_norm:
        case OpKind::update:
            return {0, 0, 55};
        case OpKind::load_pages:
            return {130, 45, 50};
        case OpKind::load_page_gradients:
            return {100, 45, 45};
        case OpKind::store_pages:
            return {35, 80, 55};
        case OpKind::store_page_gradients:
            return {20, 75, 52};
        case OpKind::selection_to_host:
            return {50, 75, 50};
        case OpKind::load_activations:
        case OpKind::load_attention_outputs:
            return {150, 45, 44};
        case OpKind::store_activations:
        case OpKind::store_attention_outputs:
            return {5, 65, 58};
        case OpKind::load_weights:
        case OpKind::load_gradients:
        case OpKind::load_states:
            return {75, 50, 42};
        case OpKind::store_gradients:
        case OpKind::store_states:
            return {48, 65, 45};
        case OpKind::read_pages:
            return {120, 30, 40};
        case OpKind::write_pages:
            return {15, 45, 42};
        case OpKind::send_pages:
        case OpKind::all_reduce:
        case OpKind::all_gather:
        case OpKind::reduce_scatter:
            return {350, 60, 58};
        case OpKind::count_:
            break;
    }
    return {0, 0, 50};
}

Tone tone_of(Category category) {
    switch (category) {
        case Category::weights:
            return {215, 55, 45};
        case Category::gradients:
            return {185, 50, 45};
        case Category::optimizer:
            return {200, 30, 62};
        case Category::kv:
            return {130, 42, 45};
        case Category::kv_gradients:
            return {90, 45, 48};
        case Category::activations:
            return {265, 42, 58};
        case Category::attention_outputs:
            return {290, 38, 55};
        case Category::logits:
            return {330, 50, 58};
        case Category::staging:
            return {35, 80, 55};
        case Category::page_cache:
            return {172, 65, 32};
        case Category::selection:
            return {235, 50, 62};
        case Category::page_tables:
            return {235, 25, 72};
        case Category::workspace:
            return {10, 55, 58};
        case Category::libraries:
            return {0, 0, 60};
        case Category::slack:
            return {0, 0, 78};
        case Category::count_:
            break;
    }
    return {0, 0, 50};
}

// On a dark ground the same tones, lifted a little where they are dark.
QColor placed(const Tone& tone, bool dark) {
    return hsl(tone.hue, tone.saturation, dark && tone.lightness < 52 ? tone.lightness + 8 : tone.lightness);
}

// Relative luminance and contrast as WCAG 2.1 defines them.
double luminance(const QColor& c) {
    const auto linear = [](double v) {
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}
double contrast(const QColor& a, const QColor& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

}  // namespace

Palette Palette::light() {
    Palette p;
    p.background = QColor(255, 255, 255);
    p.panel = QColor(245, 246, 248);
    p.text = QColor(28, 32, 38);
    p.faint_text = QColor(96, 104, 116);
    p.grid = QColor(222, 226, 232);
    p.accent = QColor(37, 99, 200);
    p.selection = QColor(214, 84, 0);
    p.cursor = QColor(60, 66, 76);
    p.marked = QColor(37, 99, 200, 42);
    p.good = QColor(22, 122, 62);
    p.bad = QColor(190, 30, 40);
    p.warning = QColor(148, 90, 0);
    p.predicted = QColor(37, 99, 200);
    p.measured = QColor(214, 84, 0);
    return p;
}

Palette Palette::dark_one() {
    Palette p;
    p.dark = true;
    p.background = QColor(24, 27, 32);
    p.panel = QColor(34, 38, 45);
    p.text = QColor(228, 231, 236);
    p.faint_text = QColor(158, 166, 178);
    p.grid = QColor(58, 64, 74);
    p.accent = QColor(106, 160, 255);
    p.selection = QColor(255, 158, 74);
    p.cursor = QColor(200, 206, 216);
    p.marked = QColor(106, 160, 255, 52);
    p.good = QColor(84, 196, 124);
    p.bad = QColor(255, 110, 110);
    p.warning = QColor(232, 178, 76);
    p.predicted = QColor(106, 160, 255);
    p.measured = QColor(255, 158, 74);
    return p;
}

QColor Palette::of(OpKind kind) const {
    return placed(tone_of(kind), dark);
}

QColor Palette::of(Category category) const {
    return placed(tone_of(category), dark);
}

QColor Palette::of(Tier tier) const {
    switch (tier) {
        case Tier::device:
            return placed({215, 55, 50}, dark);
        case Tier::host:
            return placed({35, 75, 52}, dark);
        case Tier::disk:
            return placed({300, 25, 50}, dark);
        case Tier::count_:
            break;
    }
    return text;
}

QColor Palette::of(Stream stream) const {
    switch (stream) {
        case Stream::compute:
            return placed({215, 55, 50}, dark);
        case Stream::to_device:
            return placed({130, 45, 46}, dark);
        case Stream::to_host:
            return placed({28, 78, 54}, dark);
        case Stream::peer:
            return placed({350, 60, 56}, dark);
        case Stream::disk:
            return placed({300, 25, 50}, dark);
        case Stream::count_:
            break;
    }
    return text;
}

QColor Palette::text_on(const QColor& on) {
    const QColor black(20, 22, 26), white(255, 255, 255);
    return contrast(black, on) >= contrast(white, on) ? black : white;
}

}  // namespace headroom::gui
