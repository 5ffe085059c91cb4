// MrgSort merges the first two, three or four queues.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_merge_valid_bad(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 65536);
  LocalTensor<float> a = buffer.GetWithOffset<float>(128, 0);
  LocalTensor<float> b = buffer.GetWithOffset<float>(64, 512);
  LocalTensor<uint32_t> i = buffer.GetWithOffset<uint32_t>(64, 768);
  LocalTensor<float> p = buffer.GetWithOffset<float>(128, 1024);
  Duplicate(b, 1.0f, 64);
  Duplicate(i.ReinterpretCast<int32_t>(), 3, 64);
  Sort32(p, b, i, 2);
  const uint16_t lengths[4] = {32, 32, 0, 0};
  const MrgSortSrcList<float> queues(p, p[64], p, p);
  MrgSort(a, queues, MrgSort4Info(lengths, false, 5, 1));  // expect: merge-valid
}
