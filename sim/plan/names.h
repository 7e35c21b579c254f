// Names of the plan's enumerations, as files and tables write them. One table per type serves both
// directions.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "base/text.h"
#include "hardware/work.h"
#include "plan/decisions.h"
#include "plan/plan.h"

namespace headroom {

template <class E>
using NameTable = std::vector<std::pair<E, std::string_view>>;

// Every value of the type with its name, in the order of the enumeration.
template <class E>
const NameTable<E>& names_of();
template <>
const NameTable<Optimizer>& names_of();
template <>
const NameTable<Home>& names_of();
template <>
const NameTable<AttentionOutputs>& names_of();
template <>
const NameTable<Activations>& names_of();
template <>
const NameTable<GradientPages>& names_of();
template <>
const NameTable<PageCopy>& names_of();

// "'recompte' (did you mean 'recompute'?)": what a person wrote, and the known name nearest to it.
std::string with_nearest(std::string_view found, const std::vector<std::string>& known);

// Error: no such name; the message names the nearest one and lists all.
template <class E>
Result<E> parse_name(std::string_view name, const std::string& where) {
    std::vector<std::string> known;
    for (const auto& [value, text] : names_of<E>()) {
        if (text == name) return value;
        known.emplace_back(text);
    }
    return fail(where, with_nearest(name, known), one_of(known));
}

// All decision keys in file order.
const std::vector<std::string>& decision_keys();
// Keys of decisions that change the trained result and so are never searched unless the scenario allows it.
// `chunk` and `page` are among them because with sparse attention they decide which keys are attended; with
// dense attention they change nothing, and the search varies them freely.
const std::vector<std::string>& trained_result_keys();

}  // namespace headroom
