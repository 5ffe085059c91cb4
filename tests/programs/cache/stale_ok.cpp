// A line that was read is read again after a copy has changed it. Cleaning one other line does not help.
// blocks: 1
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cache_stale_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECOUT> buffer;
  pipe.InitBuffer(buffer, 32);
  LocalTensor<float> tile = buffer.Get<float>();
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 1024);
  const float before = out.GetValue(0);
  Duplicate(tile, 2.0f, 8);
  const TEventID id = pipe.FetchEventID<HardEvent::V_MTE3>();
  SetFlag<HardEvent::V_MTE3>(id);
  WaitFlag<HardEvent::V_MTE3>(id);
  DataCopy(out, tile, 8);
  const TEventID back = pipe.FetchEventID<HardEvent::MTE3_S>();
  SetFlag<HardEvent::MTE3_S>(back);
  WaitFlag<HardEvent::MTE3_S>(back);
  DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(out[16]);
  const float after = out.GetValue(1);
  out.SetValue(32, before + after);
}
