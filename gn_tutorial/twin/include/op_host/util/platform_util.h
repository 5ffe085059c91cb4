// One of the names under which operator repositories include functions that ask about the chip.
#pragma once
#include "gn_twin/op_host/base_platform.h"
