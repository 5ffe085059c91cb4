// The chip's properties for host code, under CANN's path.
#pragma once
#include "gn_twin/host/platform_ascendc.h"
