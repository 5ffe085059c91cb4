// y = x / (1 + e^-x) for n elements of float, half or bfloat16: SiLU as an operator of its own.
//
// What kernels/group_norm/group_norm_silu.cpp is compared with: x is what GroupNorm wrote, so the same numbers go through memory a
// second time. Two buffers a queue, and one piece of work for each core, so that the copies are all that it can wait for.
// The timeline should show MTE2 and MTE3 without a gap, V between them.
#include "../common/common_formulas.h"

// dtype: that of x and y, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void silu_kernel(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t dtype) {
  GM_ADDR in[1] = {x};
  GM_ADDR out[1] = {y};
  RunMapOf<Silu>(dtype, in, out, n);
}
