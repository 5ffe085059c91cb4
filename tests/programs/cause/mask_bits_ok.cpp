// A mask that is converted as if each element had a byte of it.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_mask_bits_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> values, results, bits;
  pipe.InitBuffer(values, 256);
  pipe.InitBuffer(results, 256);
  pipe.InitBuffer(bits, 128);
  GlobalTensor<half> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y));
  LocalTensor<half> a = values.Get<half>();
  LocalTensor<half> b = results.Get<half>();
  LocalTensor<uint8_t> mask = bits.Get<uint8_t>();
  Duplicate(a, half(1.0f), 128);
  CompareScalar(mask, a, half(0.0f), CMPMODE::GT, 128);  // the cause
  Select(b, mask, a, half(0.0f), SELMODE::VSEL_TENSOR_SCALAR_MODE, 128);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, b, 128);
}
