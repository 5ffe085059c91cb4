// The gradient of GELU, tanh form, for n elements of float, half or bfloat16: dx = dy * (s + x s (1 - s) v').
//
// x is the input of the forward pass: nothing else is saved, because s costs two instructions and a saved tensor a way through memory.
// Why no intermediate result overflows: gelu_formula.h. The timeline should show V as the busiest pipe by far: 19 instructions a tile.
#include "gelu_formula.h"

// dtype: that of dy, x and dx, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void gelu_backward_kernel(GM_ADDR dy, GM_ADDR x, GM_ADDR dx, uint32_t n,
                                                           uint32_t dtype) {
  GM_ADDR in[2] = {dy, x};
  GM_ADDR out[1] = {dx};
  RunMapOf<GeluBackward>(dtype, in, out, n);
}
