// Algorithms of the C++ library are functions of the host.
#include <algorithm>

#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_std_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  uint32_t count = std::min(64u, 32 * static_cast<uint32_t>(GetBlockNum()));  // expect: language-std
  Duplicate(t, 1.0f, count);
}
