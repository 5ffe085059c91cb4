// What host code asks about the machine, under the path that CANN has it.
#pragma once
#include "gn_twin/host/platform_ascendc.h"
