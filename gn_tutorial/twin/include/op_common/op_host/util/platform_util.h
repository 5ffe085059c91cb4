// One of the names under which operator repositories include sizes of the chip.
#pragma once
#include "gn_twin/op_host/base_platform.h"
#include "tiling/platform/platform_ascendc.h"
