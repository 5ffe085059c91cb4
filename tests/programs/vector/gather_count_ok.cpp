// Gather keeps the repeats of its count in 8 bits.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_gather_count_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  TBuf<TPosition::VECCALC> offsetBuffer;
  pipe.InitBuffer(buffer, 65536 + 256);
  pipe.InitBuffer(offsetBuffer, 65536);
  LocalTensor<float> a = buffer.Get<float>();
  LocalTensor<uint32_t> offsets = offsetBuffer.Get<uint32_t>();
  Duplicate(a, 1.0f, 64);
  Duplicate(offsets, 4u, 16384);
  Gather(a[64], a, offsets, 0, 16383);
}
