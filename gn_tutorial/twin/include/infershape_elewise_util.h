// Forwards to base_shapes.h: functions that handle unknown shapes and infer shapes of common operators. Operator
// repositories include this header by several paths; this is one of the paths.
#pragma once
#include "gn_twin/op_host/base_shapes.h"
