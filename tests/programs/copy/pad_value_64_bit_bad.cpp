// 64-bit elements can be padded with 0 only.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void copy_pad_value_64_bit_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<int64_t> t = buffer.Get<int64_t>();
  GlobalTensor<int64_t> g;
  g.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t*>(x));
  const DataCopyPadExtParams<int64_t> padding{true, 0, 1, 1};
  DataCopyPad(t, g, DataCopyExtParams{1, 8, 0, 0, 0}, padding);  // expect: pad-value-64-bit
}
