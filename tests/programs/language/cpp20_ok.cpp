// A word that C++17 does not know.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_cpp20_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  constexpr auto count = []() constexpr { return 64; }();
  Duplicate(t, 1.0f, count);
}
