// Sizes that overflow are bad input where they come from a file or an option, not a mistake of the program.
#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"

namespace headroom {

// What `work` returns; an error of `where` if its sizes overflow.
template <class Work>
auto guarded(const std::string& where, Work&& work) -> decltype(work()) {
    try {
        return work();
    } catch (const Overflow& e) {
        return fail(where, e.what(), "smaller sizes");
    }
}

}  // namespace headroom
