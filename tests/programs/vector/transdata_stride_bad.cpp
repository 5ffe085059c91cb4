// With one repeat the stride of TransDataTo5HD moves the start.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_transdata_stride_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> from;
  TBuf<TPosition::VECCALC> to;
  pipe.InitBuffer(from, 2048);
  pipe.InitBuffer(to, 2048);
  LocalTensor<half> a = from.Get<half>();
  LocalTensor<half> b = to.Get<half>();
  Duplicate(a, half(1.0f), 1024);
  LocalTensor<half> src[16];
  LocalTensor<half> dst[16];
  for (uint32_t i = 0; i < 16; ++i) {
    src[i] = a[16 * i];
    dst[i] = b[16 * i];
  }
  const TransDataTo5HDParams params{false, false, 1, 16, 16};
  TransDataTo5HD<half>(dst, src, params);  // expect: transdata-stride
}
