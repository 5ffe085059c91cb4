// Forwards to toolkit_log.h: the toolkit's log functions. Operator repositories include some of them by this path, as
// in CANN.
#pragma once
#include "gn_twin/op_host/toolkit_log.h"
