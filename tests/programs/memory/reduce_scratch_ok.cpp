// ReduceMax keeps one result per repeat in its scratch tensor.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void memory_reduce_scratch_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 4096);
  TBuf<TPosition::VECCALC> bBuffer;
  pipe.InitBuffer(bBuffer, 4096);
  TBuf<TPosition::VECCALC> cBuffer;
  pipe.InitBuffer(cBuffer, 4096);
  LocalTensor<float> a = aBuffer.Get<float>();
  LocalTensor<float> b = bBuffer.Get<float>();
  LocalTensor<float> c = cBuffer.Get<float>();
  Duplicate(a, 1.0f, 1024);
  LocalTensor<float> scratch = c;
  scratch.SetSize(32);
  ReduceMax(b, a, scratch, 1024);
}
