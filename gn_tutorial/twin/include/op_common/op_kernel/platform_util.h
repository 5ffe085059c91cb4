// One of the names under which operator repositories include sizes of the chip.
#pragma once
#include "op_kernel/platform_util.h"
