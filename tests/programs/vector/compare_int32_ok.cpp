// int32 compares for equality only.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_compare_int32_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  LocalTensor<int32_t> i = t.ReinterpretCast<int32_t>();
  Compare(t.ReinterpretCast<uint8_t>(), i, i, CMPMODE::EQ, 64);
}
