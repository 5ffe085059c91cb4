// A high-level function computes in its work buffer while it reads and writes the other two.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_work_buffer_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 3072);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 256);
  LocalTensor<uint8_t> work = buffer.GetWithOffset<uint8_t>(2048, 256);
  Duplicate(a, 1.0f, 64);
  Tanh(b, a, work, 64);  // expect: operands-overlap
}
