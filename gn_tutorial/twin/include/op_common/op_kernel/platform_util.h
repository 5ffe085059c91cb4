// Forwards to op_kernel/platform_util.h: functions that give kernels sizes of the chip. Operator repositories include
// them by several paths; this is one.
#pragma once
#include "op_kernel/platform_util.h"
