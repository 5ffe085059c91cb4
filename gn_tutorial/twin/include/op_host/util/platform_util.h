// One of the names under which operator repositories include questions about the chip.
#pragma once
#include "gn_twin/op_host/base_platform.h"
