// One of the names under which operator repositories include integer arithmetic.
#pragma once
#include "gn_twin/op_host/base_math.h"
