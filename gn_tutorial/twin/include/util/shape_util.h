// Forwards to base_shapes.h: functions that handle unknown shapes and infer common output shapes. Operator repositories
// include such a header by several paths; this is one of them.
#pragma once
#include "gn_twin/op_host/base_shapes.h"
