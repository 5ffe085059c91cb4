// Forwards to log_macros.h and base_shapes.h: log and check macros, and functions that write shapes as text. Operator
// repositories include such a header by several paths; this is one of them.
#pragma once
#include "gn_twin/op_host/base_shapes.h"
#include "gn_twin/op_host/log_macros.h"
