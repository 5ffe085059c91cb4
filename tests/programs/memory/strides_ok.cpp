// Strides count: the last repeat must end inside the buffer.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_strides_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Adds(t, t, 1.0f, static_cast<uint64_t>(8), 8, {1, 1, 1, 1});
}
