// A mistake that the caller is to hear of.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_exception_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  if (GetBlockNum() > 40) return;
  Duplicate(t, 1.0f, 64);
}
