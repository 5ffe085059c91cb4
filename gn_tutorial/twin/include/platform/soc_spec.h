// Declares NpuArch, an enumeration of chip architectures. Operator projects include it by this path, as in CANN.
#pragma once
#include "gn_twin/host/platform_ascendc.h"
