// A function that calls itself.
#include "kernel_operator.h"

using namespace AscendC;

__aicore__ inline uint32_t language_halved_bad(uint32_t n) {
  return n <= 64 ? n : language_halved_bad(n / 2);  // expect: language-recursion
}

extern "C" __global__ __aicore__ void language_recursion_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Duplicate(t, 1.0f, language_halved_bad(256));
}
