// Forwards to base_values.h: functions that read the values of integer inputs. Operator repositories include such a
// header by several paths; this is one of them.
#pragma once
#include "gn_twin/op_host/base_values.h"
