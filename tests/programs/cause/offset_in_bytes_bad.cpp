// The number in tensor[...] counts elements.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_offset_in_bytes_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 2048);
  LocalTensor<float> a = buffer.Get<float>();
  LocalTensor<float> b = a[256 * sizeof(float)];
  Duplicate(b, 1.0f, 256);  // expect: ub-out-of-bounds
}
