// ascendc_assert stops the kernel when its condition is false.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void kernel_assert_ok(GM_ADDR x, GM_ADDR y) { ascendc_assert(GetBlockNum() == 1); }
