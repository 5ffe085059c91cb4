// The tiling struct fits into the bytes that the host sent.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void kernel_tiling_ok(GM_ADDR x, GM_ADDR y) {
  struct Tiling {
    uint32_t values[1024];
  };
  GET_TILING_DATA_WITH_STRUCT(Tiling, tiling, x);
  GlobalTensor<uint32_t> g;
  g.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(y));
  g.SetValue(0, tiling.values[1023]);
}
