// The data in a workspace begin behind the counters of SyncAll, which have 32 bytes for each block.
// blocks: 2
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_counters_shared_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 96);
  LocalTensor<float> part = buffer.Get<float>();
  GlobalTensor<float> parts;
  GlobalTensor<int32_t> counters;
  counters.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(y), 16);
  parts.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y) + 4, 16);
  Duplicate(part, 0.0f, 8);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0), WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(parts[8 * GetBlockIdx()], part, 8);  // expect: race-blocks
  PipeBarrier<PIPE_ALL>();
  SyncAll(counters, part[8].ReinterpretCast<int32_t>());  // the other access
}
