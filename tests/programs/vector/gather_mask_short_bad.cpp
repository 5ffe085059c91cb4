// GatherMask needs room for what it selects.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_gather_mask_short_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 16384);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 256);
  Duplicate(b, 1.0f, 64);
  uint64_t kept = 0;
  GatherMask(a[56], b, static_cast<uint8_t>(3), false, 0, {1, 1, 8, 0}, kept);  // expect: ub-out-of-bounds
}
