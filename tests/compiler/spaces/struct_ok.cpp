// A struct in global memory.
#include "kernel_operator.h"

struct Numbers {
  float scale;
  uint32_t length;
};

extern "C" __global__ __aicore__ void struct_ok(GM_ADDR x, GM_ADDR y) {
  const __gm__ Numbers* numbers = reinterpret_cast<const __gm__ Numbers*>(x);
  AscendC::GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y, 64);
  const Numbers mine = {numbers->scale, numbers->length};
  out.SetValue(0, mine.scale);
}
