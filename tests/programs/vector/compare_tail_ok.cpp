// Compare works on whole repeats of 256 bytes.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_compare_tail_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  Compare(t.ReinterpretCast<uint8_t>(), t, t, CMPMODE::LT, 64);
}
