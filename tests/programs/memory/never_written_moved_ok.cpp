// Elements that move to other places are followed from a source in which there is none.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_never_written_moved_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECIN> aBuffer;
  pipe.InitBuffer(aBuffer, 512);
  TBuf<TPosition::VECIN> bBuffer;
  pipe.InitBuffer(bBuffer, 512);
  TBuf<TPosition::VECOUT> cBuffer;
  pipe.InitBuffer(cBuffer, 512);
  LocalTensor<half> a = aBuffer.Get<half>();
  LocalTensor<half> b = bBuffer.Get<half>();
  LocalTensor<half> c = cBuffer.Get<half>();
  GlobalTensor<half> in;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x));
  GlobalTensor<half> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y));
  DataCopy(a, in, 256);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Transpose(c, a);
  Adds(c, c, half(1.0f), 256);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, c, 256);
}
