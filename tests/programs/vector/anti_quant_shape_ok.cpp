// Scale and offset of AscendAntiQuant have a column for each of the source.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void vector_anti_quant_shape_ok(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 65536);
  LocalTensor<half> a = buffer.GetWithOffset<half>(64, 0);
  LocalTensor<int8_t> b = buffer.GetWithOffset<int8_t>(64, 128);
  LocalTensor<half> s = buffer.GetWithOffset<half>(64, 512);
  Duplicate(b.ReinterpretCast<int16_t>(), static_cast<int16_t>(3), 32);
  Duplicate(s, half(2.0f), 64);
  AscendAntiQuant<int8_t, half, false>(a, b, s, s, 2, AntiQuantShapeInfo{1, 32, 1, 32});
}
