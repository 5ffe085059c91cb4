// Declares the chip's properties for host code. Operator repositories include them by this path; CANN has them at
// tiling/platform/platform_ascendc.h.
#pragma once
#include "gn_twin/host/platform_ascendc.h"
