// Both sides of a copy of slices have as many parts.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void copy_slice_pairs_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  LocalTensor<float> t = buffer.Get<float>();
  GlobalTensor<float> in, out;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  // Two parts of 8 elements in a row of 32.
  SliceInfo from[] = {{0, 18, 3, 1, 32}};
  SliceInfo to[] = {{0, 15, 0, 1, 16}};
  DataCopy(t, in, to, from);
  PipeBarrier<PIPE_ALL>();
  DataCopy(out, t, 16);
}
