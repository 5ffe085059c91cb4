// The header that kernels include to read tiling structs. It includes the kernel API and the macros that define the
// structs.
#pragma once
#include "kernel_operator.h"

#include "register/tilingdata_base.h"
