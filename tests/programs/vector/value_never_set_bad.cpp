// A number to multiply by that has a value on one path only.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_value_never_set_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  float factor;
  if (GetBlockNum() > 1) factor = 0.5f;
  Duplicate(t, 1.0f, 64);
  Muls(t, t, factor, 64);  // expect: value-never-set
}
