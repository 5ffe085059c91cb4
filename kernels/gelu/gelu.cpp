// GELU of n elements of float, half or bfloat16: y = x Phi(x), or its tanh form, y = x / (1 + e^-v) with v = x (A + B x^2).
//
// Both formulas, why they are written as they are, and what they make of extreme numbers: common_gelu_erf.h,
// common_gelu_tanh.h. Tiles, queues and shares: common_elements.h. The tanh form takes 7 vector instructions a tile, one of them an Exp and one a Div; the other 28, also with
// one Exp and one Div. The timeline should show V as the busiest pipe, and the copies in its shadow: what a fusion with the operator
// before it saves is bytes, and here they are not what takes the time.
#include "../common/common_gelu_erf.h"
#include "../common/common_gelu_tanh.h"

// dtype: that of x and y, as CANN numbers it (ge::DataType). approximate: 0 for none, 1 for tanh, as aclnnGeluV2 numbers them.
extern "C" __global__ __aicore__ void gelu_kernel(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t dtype,
                                                  uint32_t approximate) {
  GM_ADDR in[1] = {x};
  GM_ADDR out[1] = {y};
  if (approximate == 0) {
    RunMapOf<GeluErf>(dtype, in, out, n);
  } else {
    RunMapOf<GeluTanh>(dtype, in, out, n);
  }
}
