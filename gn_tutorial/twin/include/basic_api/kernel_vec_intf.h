// One of the names under which kernels and samples include the Ascend C interface. CANN splits it; the twin does not.
#pragma once
#include "kernel_operator.h"
