// The chip's properties for host code. This is CANN's own path to them.
#pragma once
#include "gn_twin/host/platform_ascendc.h"
