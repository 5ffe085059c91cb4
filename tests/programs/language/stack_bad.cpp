// A table that does not fit on the stack.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_stack_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  float table[9000];  // expect: language-stack
  table[GetBlockIdx()] = 1.0f;
  Duplicate(t, table[GetBlockIdx()], 64);
}
