// Includes all that host code uses to compute a tiling: macros for tiling structs, the chip's properties, and the
// tiling functions of the high-level API.
#pragma once
#include "gn_twin/host/host_adv_tiling.h"
#include "register/tilingdata_base.h"
#include "securec.h"
#include "tiling/platform/platform_ascendc.h"
