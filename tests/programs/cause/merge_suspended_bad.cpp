// A merge that stops when one queue is used up, and a copy of both.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_merge_suspended_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer, results;
  pipe.InitBuffer(buffer, 65536);
  pipe.InitBuffer(results, 512);
  GlobalTensor<float> yGm;
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  LocalTensor<float> merged = results.Get<float>();
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 512);
  LocalTensor<uint32_t> i = buffer.GetWithOffset<uint32_t>(64, 768);
  LocalTensor<float> p = buffer.GetWithOffset<float>(128, 1024);
  Duplicate(b, 1.0f, 64);
  Duplicate(i.ReinterpretCast<int32_t>(), 3, 64);
  Sort32(p, b, i, 2);
  const uint16_t lengths[4] = {32, 32, 0, 0};
  const MrgSortSrcList<float> queues(p, p[64], p, p);
  MrgSort(merged, queues, MrgSort4Info(lengths, true, 3, 1));  // the cause
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, merged, 128);  // expect: ub-never-written
}
