// Tiling structs in kernels: the macros and the kernel header.
#pragma once
#include "kernel_operator.h"

#include "gn_twin/host_tiling.h"
