// A row is repeated over other rows than itself.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_row_onto_itself_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1024);
  LocalTensor<float> a = buffer.Get<float>();
  Duplicate(a, 1.0f, 64);
  Copy(a, a, 64, 3, {1, 1, 8, 0});  // expect: row-onto-itself
}
