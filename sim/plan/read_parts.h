// Parts that scenario and plan files have in common, besides the decisions.
#pragma once

#include "base/result.h"
#include "plan/plan.h"
#include "plan/reader.h"

namespace headroom {

// [training]; finishes the table.
Result<void> read_recipe(TableReader& table, Recipe& out);
// The parameters of [selection]; leaves the table open.
Result<void> read_selection_model(TableReader& table, SelectionModel& out);
// A recorded selection's object; finishes the table. Checks that every row is what RecordedSelection
// promises.
Result<RecordedSelection> read_record(TableReader& table);
// "model" and "hardware" of plan.json; finish their tables. Numbers are within the ranges of fields.h, and
// the relations that arithmetic relies on hold.
Result<void> read_model_object(TableReader& table, Model& out);
Result<void> read_hardware_object(TableReader& table, Hardware& out);

}  // namespace headroom
