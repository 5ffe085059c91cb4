// A count that outlives the launch.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_global_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  uint32_t launches = 0;
  Duplicate(t, ++launches > 0 ? 1.0f : 2.0f, 64);
}
