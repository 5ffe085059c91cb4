// Forwards to base_platform.h: functions that give host code sizes of the chip. Operator repositories include them by
// several paths; this is one.
#pragma once
#include "gn_twin/op_host/base_platform.h"
