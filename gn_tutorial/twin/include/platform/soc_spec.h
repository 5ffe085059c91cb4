// NpuArch, the architectures by number, under the path by which operator projects include it.
#pragma once
#include "gn_twin/host/platform_ascendc.h"
