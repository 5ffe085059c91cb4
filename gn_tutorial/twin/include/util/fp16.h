// Forwards to base_floats.h: 16-bit floating-point numbers for host code. Operator repositories include such a header
// by several paths; this is one of them.
#pragma once
#include "gn_twin/op_host/base_floats.h"
