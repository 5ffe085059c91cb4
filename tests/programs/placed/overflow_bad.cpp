// 192 KiB of Unified Buffer can be placed, and not a byte more.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void placed_overflow_bad(GM_ADDR x, GM_ADDR y) {
  LocalMemAllocator<Hardware::UB> memory;
  LocalTensor<uint8_t> a = memory.Alloc<TPosition::VECIN, uint8_t, 192 * 1024 - 32>();
  LocalTensor<uint8_t> b = memory.Alloc<uint8_t, 64>();  // expect: static-overflow
  a.SetValue(0, b.GetSize());
}
