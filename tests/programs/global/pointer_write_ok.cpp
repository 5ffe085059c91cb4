// An output is written whole, through a pointer too; bytes of it may be equal to those of unwritten memory.
// roles: in out
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void global_pointer_write_ok(GM_ADDR x, GM_ADDR y) {
  auto* out = reinterpret_cast<__gm__ int32_t*>(y);
  GlobalTensor<int32_t> outGm;
  outGm.SetGlobalBuffer(out);
  for (uint32_t i = 1; i < 1024; ++i) out[i] = i % 2 != 0 ? 0x7fe5a5a6 : 0x7f;
  outGm.SetValue(0, 1);
}
