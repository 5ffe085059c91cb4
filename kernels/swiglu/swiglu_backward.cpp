// The gradients of z = silu(g) * u for n elements of float, half or bfloat16: dgate = dz u silu'(g) and dup = dz silu(g).
//
// With s = 1 / (1 + e^-g), silu(g) = g s and silu'(g) = s + g s (1 - s). Nothing is kept from the forward pass but its inputs: s costs
// few instructions, a saved tensor a way through memory. Five tensors go through memory; with four intermediate ones they leave room for
// tiles of half the length. The timeline should show V and MTE2 about equally busy.
#include "../common/common_formulas.h"

// With e, m and q of SigmoidParts silu'(g) = (m + g e / q) / q.
struct SwigluBackward {
  static constexpr uint32_t kInputs = 3;
  static constexpr uint32_t kOutputs = 2;
  static constexpr uint32_t kScratch = 4;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats* scratch, int32_t n) {
    const Floats &dz = in[0], &gate = in[1], &up = in[2];
    const Floats& e = scratch[0];  // e, then g e / q
    const Floats& m = scratch[1];  // m, then silu'(g), then u silu'(g)
    const Floats& q = scratch[2];
    const Floats& silu = scratch[3];
    SigmoidParts(e, m, q, gate, n);
    AscendC::Mul(silu, gate, m, n);
    AscendC::Mul(e, e, gate, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(silu, silu, q, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(e, e, q, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(m, m, e, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(m, m, q, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(m, m, up, n);
    AscendC::Mul(out[1], dz, silu, n);  // may be gate, which has been read for the last time
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(out[0], dz, m, n);
  }
};

// dtype: that of all tensors, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void swiglu_backward_kernel(GM_ADDR dz, GM_ADDR gate, GM_ADDR up, GM_ADDR dgate,
                                                             GM_ADDR dup, uint32_t n, uint32_t dtype) {
  GM_ADDR in[3] = {dz, gate, up};
  GM_ADDR out[2] = {dgate, dup};
  RunMapOf<SwigluBackward>(dtype, in, out, n);
}
