// A mistake that the caller is to hear of.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_exception_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  if (GetBlockNum() > 40) throw 5;  // expect: language-exception
  Duplicate(t, 1.0f, 64);
}
