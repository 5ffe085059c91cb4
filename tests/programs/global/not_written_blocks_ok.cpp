// All blocks together write every element of an output.
// roles: in out
// blocks: 4
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_not_written_blocks_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 4096);
  LocalTensor<float> a = aBuffer.Get<float>();
  GlobalTensor<float> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  Duplicate(a, 1.0f, 1024);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  const uint32_t block = GetBlockIdx();
  const uint32_t count = 256;
  DataCopy(out[block * 256], a, count);
}
