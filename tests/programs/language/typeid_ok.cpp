// The type of a value is not kept for the time when the kernel runs.
#include <type_traits>
#include <typeinfo>

#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_typeid_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  const bool whole = std::is_same_v<decltype(t), LocalTensor<int32_t>>;
  Duplicate(t, whole ? 1.0f : 0.5f, 64);
}
