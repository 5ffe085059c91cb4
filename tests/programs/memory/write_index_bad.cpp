// SetValue counts from 0.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_write_index_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  t.SetValue(64, 1.0f);  // expect: ub-index
}
