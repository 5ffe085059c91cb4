// The scalar unit has a root of its own; that of <cmath> is the host's.
#include <cmath>

#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_math_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  const float length = static_cast<float>(GetBlockNum());
  Duplicate(t, sqrt(length), 64);
}
