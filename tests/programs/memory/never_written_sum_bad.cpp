// A sum needs a value in every lane that it adds.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_never_written_sum_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  TBuf<TPosition::VECCALC> bBuffer;
  pipe.InitBuffer(bBuffer, 1024);
  TBuf<TPosition::VECCALC> cBuffer;
  pipe.InitBuffer(cBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  LocalTensor<float> b = bBuffer.Get<float>();
  LocalTensor<float> c = cBuffer.Get<float>();
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 1.0f, 60);
  ReduceSum(b, a, c, 64);  // expect: ub-never-written
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopyPad(out, b, DataCopyExtParams{1, 4, 0, 0, 0});
}
