// y = x / (1 + e^-x) for n elements of float, half or bfloat16: SiLU as an operator of its own.
//
// What kernels/group_norm/group_norm_silu.cpp is compared with: x is what GroupNorm wrote, so the same numbers go through memory a
// second time. Two buffers a queue, and one piece of work for each core, so that the copies are all that it can wait for.
// The timeline should show MTE2 and MTE3 without a gap, V between them.
#include "../common/common_elements.h"

// Why a division, and what it makes of extreme numbers: kernels/group_norm/group_norm_epilogue.h.
struct Silu {
  static constexpr uint32_t kInputs = 1;
  static constexpr uint32_t kScratch = 1;

  __aicore__ static inline void Apply(const AscendC::LocalTensor<float>& y, const AscendC::LocalTensor<float> (&in)[1],
                                      const AscendC::LocalTensor<float> (&scratch)[1], int32_t n) {
    AscendC::Muls(scratch[0], in[0], -1.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Exp(scratch[0], scratch[0], n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(scratch[0], scratch[0], 1.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(y, in[0], scratch[0], n);
  }
};

// dtype: that of x and y, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void silu_kernel(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t dtype) {
  GM_ADDR in[1] = {x};
  RunMapOf<Silu>(dtype, in, y, n);
}
