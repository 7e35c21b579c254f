#include "gui/model/run_event.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <utility>

namespace headroom::gui {
namespace {

using Kind = RunEvent::Kind;

Kind kind_of(const QString& name) {
    static constexpr std::pair<const char*, Kind> kNames[] = {
        {"start", Kind::start},    {"progress", Kind::progress},     {"step", Kind::step},
        {"end", Kind::end},        {"checkpoint", Kind::checkpoint}, {"saved", Kind::saved},
        {"written", Kind::written}};
    for (const auto& [text, kind] : kNames) {
        if (name == QLatin1String(text)) return kind;
    }
    return Kind::other;
}

std::optional<double> number(const QJsonObject& o, const char* key) {
    const QJsonValue v = o.value(QLatin1String(key));
    return v.isDouble() ? std::optional(v.toDouble()) : std::nullopt;
}
int64_t whole(const QJsonObject& o, const char* key) {
    return std::max<int64_t>(0, o.value(QLatin1String(key)).toInteger());
}

}  // namespace

RunEvent parse_run_event(const QByteArray& line) {
    const QJsonObject o = QJsonDocument::fromJson(line).object();
    RunEvent e;
    e.kind = kind_of(o.value("event").toString());
    if (e.kind == Kind::other) {
        e.text = QString::fromUtf8(line).trimmed();
        return e;
    }
    e.device = o.value("device").toString();
    e.ops = whole(o, "ops");
    e.device_arena_bytes = whole(o, "device_arena_bytes");
    e.host_arena_bytes = whole(o, "host_arena_bytes");
    e.first_step = whole(o, "first_step");
    e.steps = whole(o, "steps");
    e.step = whole(o, "step");
    e.share = std::clamp(number(o, "share").value_or(0), 0.0, 1.0);
    e.loss = number(o, "loss");
    e.gradient_norm = number(o, "gradient_norm");
    e.learning_rate = number(o, "learning_rate").value_or(0);
    e.seconds = number(o, "seconds").value_or(0);
    e.tokens_per_second = number(o, "tokens_per_second").value_or(0);
    e.mfu = number(o, "mfu");
    if (o.contains("device_used_bytes")) e.device_used_bytes = whole(o, "device_used_bytes");
    for (const char* key : {"timeline", "selection", "weights", "folder"}) {
        if (o.contains(QLatin1String(key))) e.text = o.value(QLatin1String(key)).toString();
    }
    return e;
}

}  // namespace headroom::gui
