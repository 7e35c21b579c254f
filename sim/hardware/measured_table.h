// The [measured] table of a hardware file, for the readers of this room.
#pragma once

#include "hardware/field_reader.h"
#include "hardware/measured.h"

namespace headroom {

void read_measured(FieldReader& fields, Measured& out);

}  // namespace headroom
