// The gradient of z = max(x + y, 0) for n elements of float, half or bfloat16: dz where z is above 0, and 0 elsewhere. It is that of x
// and that of y.
//
// The result says all that is needed, so x and y need not be kept. A comparison makes one bit for each element, and these bits choose:
// a product of dz and 0 would be NaN where dz is infinite.
#include "../common/common_elements.h"

struct WherePositive {
  static constexpr uint32_t kInputs = 2;
  static constexpr uint32_t kOutputs = 1;
  static constexpr uint32_t kScratch = 1;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats* scratch, int32_t n) {
    constexpr int32_t kLanes = 64;  // a comparison takes whole repeats; the bits behind n choose nothing
    const AscendC::LocalTensor<uint8_t> bits = scratch[0].ReinterpretCast<uint8_t>();
    AscendC::CompareScalar(bits, in[1], 0.0f, AscendC::CMPMODE::GT, (n + kLanes - 1) / kLanes * kLanes);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Select(out[0], bits, in[0], 0.0f, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, n);
  }
};

// dtype: that of dz, z and dx, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void add_relu_backward_kernel(GM_ADDR dz, GM_ADDR z, GM_ADDR dx, uint32_t n,
                                                               uint32_t dtype) {
  GM_ADDR in[2] = {dz, z};
  GM_ADDR out[1] = {dx};
  RunMapOf<WherePositive>(dtype, in, out, n);
}
