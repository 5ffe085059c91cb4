// SetSize may grow a tensor, up to the end of the Unified Buffer.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_set_size_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  t.SetSize(192 * 1024 / 4);
}
