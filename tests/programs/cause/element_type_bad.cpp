// A kernel for one element type gets an array of another.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_element_type_bad(GM_ADDR x, GM_ADDR y) {
  using Element = int64_t;
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1024);
  LocalTensor<Element> part = buffer.Get<Element>();
  GlobalTensor<Element> from, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(x));
  to.SetGlobalBuffer(reinterpret_cast<__gm__ Element*>(y));
  DataCopy(part, from[448], 128);  // expect: gm-out-of-bounds
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0), WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(to, part, 128);
}
