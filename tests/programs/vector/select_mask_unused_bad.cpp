// With a bit for each element, Select takes new bits in each repeat.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_select_mask_unused_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer, maskBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  pipe.InitBuffer(maskBuffer, 32);
  LocalTensor<float> a = aBuffer.Get<float>();
  LocalTensor<uint8_t> mask = maskBuffer.Get<uint8_t>();
  GlobalTensor<uint8_t> bits;
  bits.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(x));
  DataCopy(mask, bits, 32);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Duplicate(a, 1.0f, 256);
  Select(a, mask, a, a, SELMODE::VSEL_CMPMASK_SPR, 256);  // expect: select-mask-unused
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, a, 256);
}
