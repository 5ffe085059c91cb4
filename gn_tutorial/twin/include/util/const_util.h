// One of the names under which operator repositories include functions that read the values of integer inputs.
#pragma once
#include "gn_twin/op_host/base_values.h"
