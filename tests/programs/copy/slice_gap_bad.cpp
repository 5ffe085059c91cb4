// Parts in the Unified Buffer start on 32-byte blocks.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void copy_slice_gap_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  GlobalTensor<float> in, out;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  SliceInfo from[] = {{0, 15, 0, 1, 16}};
  SliceInfo to[] = {{0, 19, 4, 1, 24}};
  DataCopy(t, in, to, from);  // expect: slice-gap
  PipeBarrier<PIPE_ALL>();
  DataCopy(out, t, 8);
}
