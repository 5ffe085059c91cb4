// The length of a buffer has a value on one path only.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_no_value_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  uint32_t length;
  if (GetBlockNum() > 1) length = 64;
  pipe.InitBuffer(buffer, length * sizeof(float));  // expect: ub-overflow
  LocalTensor<float> t = buffer.Get<float>();
  Duplicate(t, 1.0f, length);
}
