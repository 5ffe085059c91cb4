// A tensor placed by address starts on a 32-byte boundary.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void placed_misaligned_ok(GM_ADDR x, GM_ADDR y) {
  LocalMemAllocator<Hardware::UB> memory;
  LocalTensor<half> a = memory.Alloc<half>(16);
  LocalTensor<half> b = memory.Alloc<half>(16);
  Duplicate(b, half(0.0f), 16);
  a.SetValue(0, half(0.0f));
}
