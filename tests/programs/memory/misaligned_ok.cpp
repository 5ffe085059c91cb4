// Operands of vector instructions start at multiples of 32 bytes.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_misaligned_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Adds(t[8], t, 1.0f, 8);
}
