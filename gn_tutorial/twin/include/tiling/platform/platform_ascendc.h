// Declares the chip's properties for host code. CANN has them at this path.
#pragma once
#include "gn_twin/host/platform_ascendc.h"
