// Forwards to base_platform.h: functions that return sizes of the chip to host code. Operator repositories include them
// by several paths; this is one.
#pragma once
#include "gn_twin/op_host/base_platform.h"
