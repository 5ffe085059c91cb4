// Forwards to base_math.h: integer division and rounding to multiples. Operator repositories include such a header by
// several paths; this is one of them.
#pragma once
#include "gn_twin/op_host/base_math.h"
