// Forwards to kernel_operator.h. CANN divides the Ascend C interface into several headers, and some kernels and samples
// include this one. The twin has the whole interface in one header.
#pragma once
#include "kernel_operator.h"
