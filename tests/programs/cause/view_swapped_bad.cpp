// GetWithOffset takes the number of elements first, the offset in bytes second.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_view_swapped_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 2048);
  LocalTensor<float> first = buffer.Get<float>(16);
  LocalTensor<float> second = buffer.GetWithOffset<float>(64, 256);  // the cause
  Duplicate(second, 1.0f, 256);  // expect: ub-out-of-bounds
  Duplicate(first, 1.0f, 16);
}
