// Offsets of Gatherb name whole blocks.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_gatherb_offset_ok(GM_ADDR x, GM_ADDR y) {
  LocalTensor<uint32_t> dst(TPosition::VECCALC, 0, 64);
  LocalTensor<uint32_t> src(TPosition::VECCALC, 256, 64);
  LocalTensor<uint32_t> at(TPosition::VECCALC, 512, 8);
  Duplicate(at, static_cast<uint32_t>(32), 8);
  Gatherb(dst, src, at, 1, {1, 8});
}
