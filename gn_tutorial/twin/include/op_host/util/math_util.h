// One of the names under which operator repositories include functions that round to sizes.
#pragma once
#include "gn_twin/op_host/base_math.h"
