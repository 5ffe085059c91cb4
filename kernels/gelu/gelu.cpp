// GELU, tanh form, of n elements of float, half or bfloat16: y = x / (1 + e^-v), v = x (A + B x^2).
//
// Why this form, and what it makes of extreme numbers: gelu_formula.h. Tiles, queues and shares: common_elements.h.
// Seven vector instructions a tile, one of them an Exp and one a Div. The timeline should show V as the busiest pipe, and the copies
// in its shadow: what a fusion with the operator before it saves is bytes, and here they are not what takes the time.
#include "gelu_formula.h"

// dtype: that of x and y, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void gelu_kernel(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t dtype) {
  GM_ADDR in[1] = {x};
  GM_ADDR out[1] = {y};
  RunMapOf<GeluForward>(dtype, in, out, n);
}
