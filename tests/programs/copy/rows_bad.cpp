// A copy has at most 4095 rows.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void copy_rows_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 32 * 4096);
  LocalTensor<int8_t> t = buffer.Get<int8_t>();
  GlobalTensor<int8_t> g;
  g.SetGlobalBuffer(reinterpret_cast<__gm__ int8_t*>(x));
  const DataCopyExtParams rows{4096, 1, 0, 0, 0};
  DataCopyPad(t, g, rows, DataCopyPadExtParams<int8_t>{false, 0, 0, 0});  // expect: copy-too-many-rows
}
