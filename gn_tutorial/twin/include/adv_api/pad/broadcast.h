// Kernels include this beside kernel_operator.h; the twin has all of the kernel API in the latter.
#pragma once
#include "kernel_operator.h"
