// A DataCopy moves at least one block.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void copy_empty_rows_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  GlobalTensor<float> in;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  DataCopy(a, in, DataCopyParams{1, 2, 0, 0});
}
