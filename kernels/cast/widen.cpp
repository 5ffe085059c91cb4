// y = x as float32, for n elements of half or bfloat16. Nothing is lost: each of them is a float, too.
#include "cast_elements.h"

// dtype: that of x, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void widen_kernel(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t dtype) {
  switch (dtype) {
    case 1: return RunOperator<CastElements<half, float>>(x, y, n);
    case 27: return RunOperator<CastElements<bfloat16_t, float>>(x, y, n);
  }
}
