// Scales of AscendQuant come in whole blocks of 32, and divide the elements.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_quant_scales_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 65536);
  LocalTensor<int8_t> a = buffer.GetWithOffset<int8_t>(64, 0);
  LocalTensor<half> b = buffer.GetWithOffset<half>(64, 128);
  LocalTensor<half> s = buffer.GetWithOffset<half>(64, 512);
  Duplicate(b, half(1.0f), 64);
  Duplicate(s, half(2.0f), 64);
  AscendQuant<half>(a, b, s, half(0.0f), 32, 64);
}
