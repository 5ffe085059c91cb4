// The type of a value is not kept for the time when the kernel runs.
#include <type_traits>
#include <typeinfo>

#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void language_typeid_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  const bool whole = typeid(t) == typeid(LocalTensor<int32_t>);  // expect: language-typeid
  Duplicate(t, whole ? 1.0f : 0.5f, 64);
}
