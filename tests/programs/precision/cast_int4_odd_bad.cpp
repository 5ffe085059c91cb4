// Two int4b_t share a byte: Cast converts an even number of them.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void precision_cast_int4_odd_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> halves, pairs;
  pipe.InitBuffer(halves, 64);
  pipe.InitBuffer(pairs, 32);
  LocalTensor<half> h = halves.Get<half>();
  LocalTensor<int4b_t> i = pairs.Get<int4b_t>();
  Duplicate(h, half(3.0f), 32);
  PipeBarrier<PIPE_ALL>();
  Cast(i, h, RoundMode::CAST_RINT, 15);  // expect: cast-int4-odd
  Cast(h, i, RoundMode::CAST_NONE, 16);
  PipeBarrier<PIPE_ALL>();
  GlobalTensor<half> out;
  out.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y));
  DataCopy(out, h, 16);
}
