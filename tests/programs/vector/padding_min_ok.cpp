// The padding of a minimum must be no smaller than the elements.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_padding_min_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuf, bBuf, cBuf;
  pipe.InitBuffer(aBuf, 256);
  pipe.InitBuffer(bBuf, 256);
  pipe.InitBuffer(cBuf, 256);
  LocalTensor<float> a = aBuf.Get<float>(), b = bBuf.Get<float>(), c = cBuf.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  DataCopyExtParams rows{1, 61 * sizeof(float), 0, 0, 0};
  DataCopyPad(a, xGm[1], rows, DataCopyPadExtParams<float>{true, 0, 3, 3.0e38f});
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0), WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  ReduceMin(b, a, c, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopyPad(yGm, b, DataCopyExtParams{1, sizeof(float), 0, 0, 0});
}
