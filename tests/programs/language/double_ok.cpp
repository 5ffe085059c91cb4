// Numbers of 64 bits on the scalar unit.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_double_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  const float scale = 1.0f / GetBlockNum();
  Duplicate(t, static_cast<float>(scale), 64);
}
