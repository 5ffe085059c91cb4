// One of the names under which operator repositories include numbers of 16 bits.
#pragma once
#include "gn_twin/op_host/base_floats.h"
