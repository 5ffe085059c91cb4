// A view ends inside its buffer.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_offset_too_long_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1024);
  LocalTensor<float> half1 = buffer.GetWithOffset<float>(512, 128);  // expect: buffer-get-too-long
  Duplicate(half1, 1.0f, 128);
}
