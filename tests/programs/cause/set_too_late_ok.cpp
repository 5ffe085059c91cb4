// A number that is computed of another one, which has no value yet.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void cause_set_too_late_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  uint32_t tile;
  const uint32_t tiles = 256 / 64;
  tile = 64;
  for (uint32_t i = 0; i < tiles; ++i) Duplicate(t, 1.0f, tile);
}
