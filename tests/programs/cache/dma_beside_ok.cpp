// The scalar unit and a copy write next to each other: in lines of their own, or in one.
// blocks: 1
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cache_dma_beside_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECOUT> buffer;
  pipe.InitBuffer(buffer, 32);
  LocalTensor<float> tile = buffer.Get<float>();
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 1024);
  Duplicate(tile, 2.0f, 8);
  const TEventID id = pipe.FetchEventID<HardEvent::V_MTE3>();
  SetFlag<HardEvent::V_MTE3>(id);
  WaitFlag<HardEvent::V_MTE3>(id);
  out.SetValue(0, 1.0f);
  const uint64_t at = 16;
  DataCopy(out[at], tile, 8);
}
