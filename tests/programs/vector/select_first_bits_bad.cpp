// VSEL_CMPMASK_SPR uses the same bits in each repeat.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_select_first_bits_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> a, b, mask;
  pipe.InitBuffer(a, 1024);
  pipe.InitBuffer(b, 1024);
  pipe.InitBuffer(mask, 32);
  LocalTensor<float> first = a.Get<float>(), second = b.Get<float>();
  LocalTensor<uint8_t> bits = mask.Get<uint8_t>();
  Duplicate(first, 1.0f, 256);
  Duplicate(second, 2.0f, 256);
  Compare(bits, first, second, CMPMODE::LT, 256);
  Select(first, bits, first, second, SELMODE::VSEL_CMPMASK_SPR, 256);  // expect: select-first-bits
}
