// The error of work that was told to stop. A room-internal header.
#pragma once

#include "base/result.h"

namespace headroom {

inline tl::unexpected<Error> interruption() {
    return fail("", "interrupted", "", Fault::interrupted);
}

}  // namespace headroom
