// Forwards to base_values.h: functions that read the values of integer inputs. Operator repositories include them by
// several paths; this is one.
#pragma once
#include "gn_twin/op_host/base_values.h"
