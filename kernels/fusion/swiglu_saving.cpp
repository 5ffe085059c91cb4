// SwiGLU whose forward pass saves s = 1 / (1 + e^-gate) for the backward pass, which kernels/swiglu recomputes: what saving costs.
//
// Saving spares the backward pass two exponentials and three divisions, and costs a tensor more through memory in each direction. Both
// launches should be limited by memory, so the instructions that are spared gain nothing.
#include "../common/common_elements.h"

struct SwigluSaving {
  static constexpr uint32_t kInputs = 2;   // gate, up
  static constexpr uint32_t kOutputs = 2;  // z, s
  static constexpr uint32_t kScratch = 2;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats* scratch, int32_t n) {
    const Floats &q = scratch[0], &ones = scratch[1];
    AscendC::Muls(q, in[0], -1.0f, n);
    AscendC::Duplicate(ones, 1.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Exp(q, q, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(q, q, 1.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Div(q, ones, q, n);
    AscendC::Mul(ones, in[0], in[1], n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(out[0], ones, q, n);
    AscendC::Adds(out[1], q, 0.0f, n);  // a copy: out[1] may be in[1]
  }
};

// dgate = dz up (s + g s (1 - s)) and dup = dz g s.
struct SwigluFromSaved {
  static constexpr uint32_t kInputs = 4;   // dz, gate, up, s
  static constexpr uint32_t kOutputs = 2;  // dgate, dup
  static constexpr uint32_t kScratch = 2;

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats* scratch, int32_t n) {
    const Floats &dz = in[0], &gate = in[1], &up = in[2], &s = in[3];
    const Floats &silu = scratch[0], &slope = scratch[1];
    AscendC::Mul(silu, gate, s, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(slope, silu, s, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sub(slope, silu, slope, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Add(slope, slope, s, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(slope, slope, up, n);
    AscendC::Mul(out[1], dz, silu, n);  // may be gate, which has been read for the last time
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(out[0], dz, slope, n);
  }
};

// dtype: that of all tensors, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void swiglu_saving(GM_ADDR gate, GM_ADDR up, GM_ADDR z, GM_ADDR s, uint32_t n,
                                                    uint32_t dtype) {
  GM_ADDR in[2] = {gate, up};
  GM_ADDR out[2] = {z, s};
  RunMapOf<SwigluSaving>(dtype, in, out, n);
}

extern "C" __global__ __aicore__ void swiglu_from_saved(GM_ADDR dz, GM_ADDR gate, GM_ADDR up, GM_ADDR s, GM_ADDR dgate,
                                                        GM_ADDR dup, uint32_t n, uint32_t dtype) {
  GM_ADDR in[4] = {dz, gate, up, s};
  GM_ADDR out[2] = {dgate, dup};
  RunMapOf<SwigluFromSaved>(dtype, in, out, n);
}
