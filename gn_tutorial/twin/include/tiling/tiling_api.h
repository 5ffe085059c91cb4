// The host side of tiling: structs, shapes and the machine. The tiling functions of the high-level API are not on the twin yet.
#pragma once
#include "gn_twin/host_tiling.h"
#include "register/tilingdata_base.h"
#include "securec.h"
#include "tiling/platform/platform_ascendc.h"
