// Tiling structs in kernels: includes the macros and the kernel header.
#pragma once
#include "kernel_operator.h"

#include "register/tilingdata_base.h"
