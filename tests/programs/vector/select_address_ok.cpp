// In mode 2 the compare register holds an address.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_select_address_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 16384);
  LocalTensor<float> a = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 256);
  Duplicate(b, 1.0f, 64);
  LocalTensor<uint64_t> bits = buffer.GetWithOffset<uint64_t>(4, 512);
  bits.SetValue(0, 5);
  SetCmpMask(bits);
  Select<float, SELMODE::VSEL_CMPMASK_SPR>(a, a, b, 1, {1, 1, 1, 8, 8, 8});
}
