// LocalMemAllocator and TPipe do not mix.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void placed_with_pipe_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  LocalMemAllocator<> memory;
  pipe.Destroy();
  LocalTensor<float> a = memory.Alloc<float, 8>();
  a.SetValue(0, 1.0f);
}
