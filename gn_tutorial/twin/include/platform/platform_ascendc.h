// The chip's properties for host code, under the path of operator repositories.
#pragma once
#include "gn_twin/host/platform_ascendc.h"
