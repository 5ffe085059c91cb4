// Gather cannot write over its source.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_gather_in_place_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 768);
  LocalTensor<float> dst = buffer.GetWithOffset<float>(64, 0);
  LocalTensor<float> src = buffer.GetWithOffset<float>(64, 256);
  LocalTensor<uint32_t> at = buffer.GetWithOffset<uint32_t>(64, 512);
  Duplicate(at, static_cast<uint32_t>(4), 64);
  Gather(dst, dst, at, 0, 64);  // expect: gather-in-place
}
