// A function without a qualifier is one of the host.
#include "kernel_operator.h"

using namespace AscendC;

inline uint32_t language_tile_bad(uint32_t n) {  // expect: language-not-aicore
  return n / 2;
}

extern "C" __global__ __aicore__ void language_not_aicore_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Duplicate(t, 1.0f, language_tile_bad(128));
}
