// The end of a slice is the last element of its last part.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void copy_slice_info_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  GlobalTensor<float> in, out;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  // Two parts of 8 elements in a row of 32.
  SliceInfo from[] = {{0, 19, 3, 1, 32}};
  SliceInfo to[] = {{0, 15, 0, 1, 16}};
  DataCopy(t, in, to, from);  // expect: slice-info
  PipeBarrier<PIPE_ALL>();
  DataCopy(out, t, 16);
}
