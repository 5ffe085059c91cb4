// InitBuffer comes before Get.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_not_initialised_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  TBuf<TPosition::VECCALC> other;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Adds(t, t, 1.0f, 8);
}
