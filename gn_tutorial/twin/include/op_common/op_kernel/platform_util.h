// Forwards to op_kernel/platform_util.h: functions that return sizes of the chip to kernels. Operator repositories
// include them by several paths; this is one.
#pragma once
#include "op_kernel/platform_util.h"
