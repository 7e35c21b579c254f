#include "gui/app/theme.h"

#include <QApplication>
#include <QPainter>
#include <QPalette>
#include <QProxyStyle>
#include <QStyle>
#include <QStyleOption>

namespace headroom::gui {

QString name_of(Theme theme) {
    return theme == Theme::light ? "light" : theme == Theme::dark ? "dark" : "system";
}

Theme theme_of(const QString& name) {
    return name == "light" ? Theme::light : name == "dark" ? Theme::dark : Theme::system;
}

bool is_dark(Theme theme) {
    if (theme != Theme::system) return theme == Theme::dark;
    // Before any of ours was set: what the desktop gave.
    static const bool desktop_is_dark =
        QApplication::style()->standardPalette().color(QPalette::Window).lightness() < 128;
    return desktop_is_dark;
}

namespace {

// Fusion, but for check boxes: its outline of an empty one is darker than the window, and so cannot be seen
// on a dark one.
class AppStyle : public QProxyStyle {
public:
    AppStyle() : QProxyStyle("Fusion") {}

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override {
        QProxyStyle::drawPrimitive(element, option, painter, widget);
        if (element != PE_IndicatorCheckBox) return;
        const bool enabled = (option->state & State_Enabled) != 0;
        const bool focused = (option->state & State_HasFocus) && (option->state & State_KeyboardFocusChange);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing, true);
        painter->setBrush(Qt::NoBrush);
        painter->setPen(option->palette.color(enabled ? QPalette::Active : QPalette::Disabled,
                                              focused   ? QPalette::Highlight
                                              : enabled ? QPalette::PlaceholderText
                                                        : QPalette::WindowText));
        painter->drawRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5));
        painter->restore();
    }
};

}  // namespace

void apply_theme(const Palette& p) {
    if (dynamic_cast<AppStyle*>(QApplication::style()) == nullptr) QApplication::setStyle(new AppStyle);
    QPalette q;
    q.setColor(QPalette::Window, p.panel);
    q.setColor(QPalette::WindowText, p.text);
    q.setColor(QPalette::Base, p.background);
    q.setColor(QPalette::AlternateBase, p.panel);
    q.setColor(QPalette::ToolTipBase, p.background);
    q.setColor(QPalette::ToolTipText, p.text);
    q.setColor(QPalette::PlaceholderText, p.faint_text);
    q.setColor(QPalette::Text, p.text);
    q.setColor(QPalette::Button, p.panel);
    q.setColor(QPalette::ButtonText, p.text);
    q.setColor(QPalette::BrightText, p.bad);
    q.setColor(QPalette::Link, p.accent);
    q.setColor(QPalette::Highlight, p.accent);
    q.setColor(QPalette::HighlightedText, Palette::text_on(p.accent));
    q.setColor(QPalette::Mid, p.grid);
    q.setColor(QPalette::Dark, p.grid.darker(p.dark ? 150 : 130));
    q.setColor(QPalette::Light, p.dark ? p.panel.lighter(130) : QColor(Qt::white));
    const QColor off = p.dark ? p.faint_text.darker(140) : p.faint_text.lighter(140);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        q.setColor(QPalette::Disabled, role, off);
    QApplication::setPalette(q);
}

}  // namespace headroom::gui
