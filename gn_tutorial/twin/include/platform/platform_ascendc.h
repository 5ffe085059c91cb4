// The chip's properties for host code. Operator repositories include them by this path; CANN's own path is
// tiling/platform/platform_ascendc.h.
#pragma once
#include "gn_twin/host/platform_ascendc.h"
