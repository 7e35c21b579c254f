// The keys of a scenario that the app lets a person turn: each fixed to a value, or left to the planner.
//
// A turned knob is one override of the scenario's file ("plan.chunk" = "8Ki"), as `headroom plan --set` takes
// it. The file itself is never changed.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QUndoStack>
#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace headroom::gui {

struct Knob {
    enum class Kind { choice, tokens, bytes, count };
    QString key;    // "plan.chunk"
    QString label;  // "Chunk"
    QString group;  // "Context", "Budget", "Training", "Plan"
    QString help;   // one sentence, with the unit
    Kind kind = Kind::choice;
    // Kind::choice: all that are allowed; others: values worth a click. As written after "KEY=".
    QStringList values;
    bool planner_decides = false;  // whether "auto" is allowed
    bool changes_result = false;   // another training run, not only another way to run it
};
// In the order in which they are shown. `hardware`: names of the shipped machines.
std::vector<Knob> all_knobs(const QStringList& hardware);
// Names of the files of models/hardware without their ending, sorted; empty where the data folder is not
// found.
QStringList shipped_hardware();

// What the knob stands at in `plan`, as it would be written after "KEY="; empty where it means nothing there
// (selected pages of dense attention).
QString value_in(const Knob& knob, const Plan& plan);

// Places of a context slider: eight an octave from 4Ki to 16Mi, each a multiple of 128.
inline constexpr int kContextPlaces = 12 * 8 + 1;
int64_t context_of_place(int place);
int nearest_context_place(int64_t tokens);
// "1536Ki", "2Mi", "1000": the shortest exact way to write it.
QString tokens_setting(int64_t tokens);

// Overrides with undo and redo. Contract: changed() comes once for every change, undo and redo included.
class Knobs : public QObject {
    Q_OBJECT
public:
    explicit Knobs(QObject* parent = nullptr);

    // What `key` was turned to; empty: as the file has it.
    QString value(const QString& key) const;
    bool turned(const QString& key) const { return values_.contains(key); }
    // Empty: back to what the file has. Turns of one key in one go (`merge`: a slider that moves) are one
    // entry.
    void turn(const QString& key, const QString& value, bool merge = false);
    // All at once, as one entry.
    void turn_all(const std::map<QString, QString>& values, const QString& name);
    void clear();  // values and history

    const std::map<QString, QString>& values() const { return values_; }
    std::vector<std::string> overrides() const;  // "key=value"
    QUndoStack& history() { return history_; }

Q_SIGNALS:
    void changed();

private:
    class Turn;
    void set(const std::map<QString, QString>& values);

    std::map<QString, QString> values_;
    QUndoStack history_;
};

}  // namespace headroom::gui
