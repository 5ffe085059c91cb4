// int32 to half multiplies with a scale that starts undefined.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_deq_scale_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  SetDeqScale(half(1.0f));
  Cast(t.ReinterpretCast<half>(), t.ReinterpretCast<int32_t>(), RoundMode::CAST_NONE, 8);
}
