// Memory that is asked for while the kernel runs.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_heap_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  uint32_t* count = new uint32_t(64);  // expect: language-heap
  Duplicate(t, 1.0f, *count);
}
