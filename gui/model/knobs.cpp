#include "gui/model/knobs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/file.h"
#include "gui/model/text.h"
#include "plan/decision_text.h"
#include "strategy/strategy.h"

namespace headroom::gui {
namespace {

QStringList strategy_names() {
    QStringList names;
    for (const Strategy* s : strategies())
        names << QString::fromUtf8(s->name().data(), qsizetype(s->name().size()));
    return names;
}

}  // namespace

QStringList shipped_hardware() {
    QStringList names;
    const Result<std::filesystem::path> data = data_folder();
    if (!data) return names;
    for (const std::string& name : headroom::shipped_hardware(*data)) names << QString::fromStdString(name);
    return names;
}

std::vector<Knob> all_knobs(const QStringList& hardware) {
    using Kind = Knob::Kind;
    const QString context = "Context", budget = "Budget", training = "Training", plan = "Plan";
    return {
        {"context",
         "Context",
         context,
         "Tokens of one sequence",
         Kind::tokens,
         {"64Ki", "128Ki", "256Ki", "512Ki", "1Mi", "2Mi", "4Mi"},
         false,
         true},
        {"hardware", "GPU", budget, "The machine it runs on", Kind::choice, hardware},
        {"gpus", "GPUs", budget, "How many of them there are", Kind::count, {"1", "2", "4", "8"}},
        {"budget.device",
         "Device memory",
         budget,
         "Bytes of one GPU that the step may use, libraries included",
         Kind::bytes,
         {"24GiB", "40GiB", "80GiB", "139GiB"}},
        {"budget.host",
         "Host memory",
         budget,
         "Pinned bytes of the host that the step may use",
         Kind::bytes,
         {"0", "32GiB", "64GiB", "96GiB", "128GiB", "256GiB", "512GiB"}},
        {"budget.disk",
         "Disk",
         budget,
         "Bytes of the disk that pages may use",
         Kind::bytes,
         {"0", "64GiB", "256GiB", "1TiB"}},
        {"training.optimizer",
         "Optimizer",
         training,
         "What updates the weights",
         Kind::choice,
         {"adamw", "adamw8bit", "sgd", "none"},
         false,
         true},
        {"training.states",
         "States",
         training,
         "Number format of AdamW's moments",
         Kind::choice,
         {"fp32", "bf16"},
         false,
         true},
        {"training.gradients",
         "Gradients",
         training,
         "Number format of weight gradients",
         Kind::choice,
         {"fp32", "bf16"},
         false,
         true},
        {"training.batch",
         "Batch",
         training,
         "Sequences a step, one after the other",
         Kind::count,
         {"1", "2", "4", "8"},
         false,
         true},
        {"plan.strategy", "Strategy", plan, "How the step is cut", Kind::choice, strategy_names(), true},
        {"plan.attention",
         "Attention",
         plan,
         "Every key, or the pages that each block of queries selects",
         Kind::choice,
         {"dense", "sparse"},
         false,
         true},
        {"plan.attention.budget",
         "Selected pages",
         plan,
         "Pages selected for each block of queries (sparse)",
         Kind::count,
         {"32", "64", "128", "256"},
         false,
         true},
        {"plan.attention.block",
         "Selecting queries",
         plan,
         "Queries that select together (sparse)",
         Kind::count,
         {"128", "1024", "4096"},
         false,
         true},
        {"plan.attention.waiting",
         "Waiting pages",
         plan,
         "Pages of a layer, on average, whose gradients may wait for their own chunk at once: a limit that "
         "selections keep; 0: any number (sparse)",
         Kind::count,
         {"0", "512", "1024", "2048", "4096"},
         false,
         true},
        {"plan.chunk",
         "Chunk",
         plan,
         "Tokens of one chunk; a multiple of the page",
         Kind::tokens,
         {"1Ki", "2Ki", "4Ki", "8Ki", "16Ki"},
         true},
        {"plan.page", "Page", plan, "Tokens of one page", Kind::tokens, {"32", "64", "128", "256"}, true},
        {"plan.kv_dtype",
         "K and V",
         plan,
         "Number format of K and V pages",
         Kind::choice,
         {"bf16", "fp16", "fp32", "fp8"},
         false,
         true},
        {"plan.kv_gradients_dtype",
         "dK and dV",
         plan,
         "Number format of dK and dV pages",
         Kind::choice,
         {"bf16", "fp32"},
         false,
         true},
        {"plan.kv",
         "K, V live on",
         plan,
         "Home of K and V pages",
         Kind::choice,
         {"device", "host", "disk"},
         true},
        {"plan.kv_gradients",
         "dK, dV live on",
         plan,
         "Home of dK and dV pages",
         Kind::choice,
         {"device", "host", "disk"},
         true},
        {"plan.attention_outputs",
         "Attention outputs",
         plan,
         "Computed again, or kept, and where",
         Kind::choice,
         {"recompute", "chunk", "device", "host"},
         true},
        {"plan.activations",
         "Activations",
         plan,
         "Of the chunk in its backward pass",
         Kind::choice,
         {"keep", "checkpoint_device", "checkpoint_host"},
         true},
        {"plan.weights_home",
         "Weights live on",
         plan,
         "Home of the weights",
         Kind::choice,
         {"device", "host", "ranks"},
         true},
        {"plan.gradients_home",
         "Gradients live on",
         plan,
         "Home of the weight gradients",
         Kind::choice,
         {"device", "host", "ranks"},
         true},
        {"plan.states_home",
         "States live on",
         plan,
         "Home of the optimizer's states",
         Kind::choice,
         {"device", "host", "ranks"},
         true},
        {"plan.page_copy",
         "Pages travel by",
         plan,
         "Single copies, a batched call, or a kernel",
         Kind::choice,
         {"loop", "batch", "gather"},
         true},
        {"plan.prefetch",
         "Prefetch",
         plan,
         "Pieces that a load may run ahead",
         Kind::count,
         {"0", "1", "2"},
         true},
        {"plan.wavefront", "Chunks in flight", plan, "In the fill pass", Kind::count, {"1", "2"}, true},
    };
}

QString tokens_setting(int64_t tokens) {
    constexpr int64_t kKi = 1024, kMi = 1024 * 1024;
    if (tokens > 0 && tokens % kMi == 0) return QString::number(tokens / kMi) + "Mi";
    if (tokens > 0 && tokens % kKi == 0) return QString::number(tokens / kKi) + "Ki";
    return QString::number(tokens);
}

QString value_in(const Knob& knob, const Plan& plan) {
    const Decisions& d = plan.decisions;
    const Recipe& r = plan.recipe;
    const QString& key = knob.key;
    if (key == "context") return tokens_setting(plan.context.count());
    if (key == "hardware") return QString::fromStdString(plan.hardware.name);
    if (key == "gpus") return QString::number(plan.gpus);
    if (key == "budget.device") return bytes_text(plan.budget.device.count());
    if (key == "budget.host") return bytes_text(plan.budget.host.count());
    if (key == "budget.disk") return bytes_text(plan.budget.disk.count());
    if (key == "training.optimizer") return text_of(name_of(r.optimizer));
    if (key == "training.states")
        return r.optimizer == Optimizer::adamw ? text_of(name_of(r.states)) : QString();
    if (key == "training.gradients") return text_of(name_of(r.gradients));
    if (key == "training.batch") return QString::number(r.batch);
    if (key == "plan.attention") return d.attention.sparse ? "sparse" : "dense";
    if (key == "plan.attention.budget")
        return d.attention.sparse ? QString::number(d.attention.budget) : QString();
    if (key == "plan.attention.block")
        return d.attention.sparse ? QString::number(d.attention.block) : QString();
    if (key == "plan.attention.waiting")
        return d.attention.sparse ? QString::number(d.attention.waiting) : QString();
    const std::string name = key.mid(QString("plan.").size()).toStdString();
    for (const auto& [decision, value] : decision_texts(d)) {
        if (decision == name) return text_of(value);
    }
    return {};
}

int64_t context_of_place(int place) {
    constexpr int64_t kStep = 128;
    const double tokens =
        4096.0 * std::exp2(static_cast<double>(std::clamp(place, 0, kContextPlaces - 1)) / 8.0);
    return std::llround(tokens / static_cast<double>(kStep)) * kStep;
}

int nearest_context_place(int64_t tokens) {
    if (tokens <= 4096) return 0;
    const double place = 8.0 * std::log2(static_cast<double>(tokens) / 4096.0);
    return std::min(kContextPlaces - 1, static_cast<int>(std::lround(place)));
}

// One entry of the history. Turns of one key that ask for it become one.
class Knobs::Turn : public QUndoCommand {
public:
    Turn(Knobs& knobs, std::map<QString, QString> after, const QString& name, int merge_id)
        : QUndoCommand(name),
          knobs_(knobs),
          before_(knobs.values_),
          after_(std::move(after)),
          merge_id_(merge_id) {}
    void undo() override { knobs_.set(before_); }
    void redo() override { knobs_.set(after_); }
    int id() const override { return merge_id_; }
    bool mergeWith(const QUndoCommand* other) override {
        const auto* later = dynamic_cast<const Turn*>(other);
        if (later == nullptr || later->text() != text()) return false;
        after_ = later->after_;
        return true;
    }

private:
    Knobs& knobs_;
    std::map<QString, QString> before_, after_;
    int merge_id_;
};

Knobs::Knobs(QObject* parent) : QObject(parent) {}

QString Knobs::value(const QString& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? QString() : found->second;
}

void Knobs::turn(const QString& key, const QString& value, bool merge) {
    std::map<QString, QString> after = values_;
    if (value.isEmpty()) {
        after.erase(key);
    } else {
        after[key] = value;
    }
    if (after == values_) return;
    history_.push(new Turn(*this, std::move(after), key, merge ? 1 : -1));
}

void Knobs::turn_all(const std::map<QString, QString>& values, const QString& name) {
    if (values == values_) return;
    history_.push(new Turn(*this, values, name, -1));
}

void Knobs::clear() {
    history_.clear();
    values_.clear();
}

std::vector<std::string> Knobs::overrides() const {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : values_) pairs.push_back((key + "=" + value).toStdString());
    return pairs;
}

void Knobs::set(const std::map<QString, QString>& values) {
    values_ = values;
    Q_EMIT changed();
}

}  // namespace headroom::gui
