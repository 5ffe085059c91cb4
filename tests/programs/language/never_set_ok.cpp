// A sum that begins with whatever was in memory.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_never_set_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Duplicate(t, 1.0f, 64);
  float total = 0.0f;
  for (uint32_t i = 0; i < 4; ++i) total += t.GetValue(i);
  Duplicate(t, total / 4, 64);
}
