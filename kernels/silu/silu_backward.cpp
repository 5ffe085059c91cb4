// dx = dy silu'(x) for n elements of float, half or bfloat16: the gradient of SiLU as an operator of its own.
//
// What kernels/group_norm_backward/group_norm_silu_backward.cpp is compared with: it reads what GroupNorm wrote, and what it writes is
// read again for the gradients of GroupNorm. The timeline should show MTE2 with hardly a gap, V below it.
#include "../common/common_formulas.h"

// dtype: that of all tensors, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void silu_backward_kernel(GM_ADDR dy, GM_ADDR x, GM_ADDR dx, uint32_t n,
                                                           uint32_t dtype) {
  GM_ADDR in[2] = {dy, x};
  GM_ADDR out[1] = {dx};
  RunMapOf<SiluBackward>(dtype, in, out, n);
}
