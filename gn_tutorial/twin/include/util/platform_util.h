// Forwards to base_platform.h: functions that return sizes of the chip to host code. Operator repositories include such
// a header by several paths; this is one of them.
#pragma once
#include "gn_twin/op_host/base_platform.h"
#include "tiling/platform/platform_ascendc.h"
