// Each pair of types has its own rounding modes.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_cast_mode_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Cast(t.ReinterpretCast<int32_t>(), t, RoundMode::CAST_NONE, 8);  // expect: cast-unsupported
}
