// What host code asks about the machine, under the path that operator repositories have it.
#pragma once
#include "gn_twin/host/platform_ascendc.h"
