// Sum, product and ReLU of n elements of float, half or bfloat16, each a launch of its own.
//
// What fused kernels are compared with: an instruction an element, so that the copies are all that such a launch waits for.
#include "../common/common_formulas.h"

// dtype: that of all tensors, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void elementwise_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t n, uint32_t dtype) {
  GM_ADDR in[2] = {x, y};
  GM_ADDR out[1] = {z};
  RunMapOf<Plus>(dtype, in, out, n);
}

extern "C" __global__ __aicore__ void elementwise_mul(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t n, uint32_t dtype) {
  GM_ADDR in[2] = {x, y};
  GM_ADDR out[1] = {z};
  RunMapOf<Times>(dtype, in, out, n);
}

extern "C" __global__ __aicore__ void elementwise_relu(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t dtype) {
  GM_ADDR in[1] = {x};
  GM_ADDR out[1] = {y};
  RunMapOf<Rectify>(dtype, in, out, n);
}
