// A helper gets a pointer into global memory.
#include "kernel_operator.h"

template <class T>
__aicore__ inline float Sum(const __gm__ T* values, uint32_t count) {
  float sum = 0.0f;
  for (uint32_t i = 0; i < count; ++i) sum += values[i];
  return sum;
}

extern "C" __global__ __aicore__ void pointer_ok(GM_ADDR x, GM_ADDR y) {
  const __gm__ float* values = reinterpret_cast<const __gm__ float*>(x);
  AscendC::GlobalTensor<float> out;
  out.SetGlobalBuffer((__gm__ float*)y, 64);
  out.SetValue(0, Sum<float>(values, 8));
}
