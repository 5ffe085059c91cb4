// The built-in patterns of GatherMask have the numbers 1 to 7.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_gather_mask_pattern_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 16384);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 256);
  Duplicate(b, 1.0f, 64);
  uint64_t kept = 0;
  GatherMask(a, b, static_cast<uint8_t>(7), false, 0, {1, 1, 8, 0}, kept);
}
