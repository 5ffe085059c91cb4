// Padding needs a value.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void copy_pad_value_unset_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> aBuffer;
  pipe.InitBuffer(aBuffer, 1024);
  LocalTensor<float> a = aBuffer.Get<float>();
  GlobalTensor<float> in;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  const DataCopyPadExtParams<float> pad{false, 0, 3, 0.0f};
  DataCopyPad(a, in, DataCopyExtParams{1, 20, 0, 0, 0}, pad);  // expect: pad-value-unset
}
