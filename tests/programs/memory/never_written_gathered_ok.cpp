// Gather reads an element for each offset: each has to have a value.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_never_written_gathered_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> tableBuffer, offsetBuffer, resultBuffer;
  pipe.InitBuffer(tableBuffer, 512);
  pipe.InitBuffer(offsetBuffer, 256);
  pipe.InitBuffer(resultBuffer, 256);
  LocalTensor<float> table = tableBuffer.Get<float>();
  LocalTensor<int32_t> offsets = offsetBuffer.Get<int32_t>();
  LocalTensor<float> result = resultBuffer.Get<float>();
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  DataCopy(table, xGm, 64);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  CreateVecIndex(offsets, 0, 64);
  Muls(offsets, offsets, -4, 64);
  Adds(offsets, offsets, 4 * 63, 64);
  Gather(result, table, offsets.ReinterpretCast<uint32_t>(), 0, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(yGm, result, 64);
}
