// A sum that begins with whatever was in memory.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_never_set_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Duplicate(t, 1.0f, 64);
  float total;
  for (uint32_t i = 0; i < 4; ++i) total += t.GetValue(i);  // expect: language-never-set
  Duplicate(t, total / 4, 64);
}
