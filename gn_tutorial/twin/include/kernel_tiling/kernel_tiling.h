// The header by which kernels read tiling structs. It includes the macros that define them and the kernel API.
#pragma once
#include "kernel_operator.h"

#include "register/tilingdata_base.h"
