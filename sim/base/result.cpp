#include "base/result.h"

namespace headroom {

std::string Error::text() const {
    std::string line = where;
    if (!line.empty()) line += ": ";
    line += found;
    if (!allowed.empty()) line += "; allowed: " + allowed;
    return line;
}

int exit_code(Fault fault) {
    switch (fault) {
        case Fault::bad_input:
            return 2;
        case Fault::does_not_fit:
            return 3;
        case Fault::outside_tolerance:
            return 4;
        case Fault::run_failed:
            return 5;
        case Fault::interrupted:
            return 130;
    }
    return 5;
}

}  // namespace headroom
