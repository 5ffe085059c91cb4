// Forwards to base_math.h: integer division and rounding to multiples. Operator repositories include these functions by
// several paths; this is one.
#pragma once
#include "gn_twin/op_host/base_math.h"
