// InitBuffer comes before Get.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_not_initialised_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  TBuf<TPosition::VECCALC> other;
  pipe.InitBuffer(other, 256);
  LocalTensor<float> t = buffer.Get<float>();  // expect: buffer-not-initialised
  Adds(t, t, 1.0f, 8);
}
