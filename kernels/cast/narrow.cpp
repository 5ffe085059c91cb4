// y = x, float32, as half or bfloat16, for n elements: rounded to the nearest, ties to even.
#include "cast_elements.h"

// dtype: that of y, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void narrow_kernel(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t dtype) {
  switch (dtype) {
    case 1: return RunOperator<CastElements<float, half>>(x, y, n);
    case 27: return RunOperator<CastElements<float, bfloat16_t>>(x, y, n);
  }
}
