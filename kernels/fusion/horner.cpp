// Horner's rule, v = v * x + 1/2 again and again, for n elements: how local memory limits what one launch can fuse.
//
// Each step makes two intermediate values. `own` gives each value a tensor of its own, as a simple code generator does: the tiles get
// shorter, and every instruction and queue call is paid for more often. `shared` has one tensor for all of them. The numbers, the
// instructions and the bytes are the same. `first` and `rest` are the two halves of `own` as two launches, `shared_first` and
// `shared_rest` those of `shared`: V works most of the time there, so cutting should cost the start of a launch and hardly any bytes.
#include "../common/common_elements.h"

constexpr uint32_t kHornerSteps = 30;

// The inputs are x and, behind it where there are two, the value to begin with; one input is both.
template <uint32_t kSteps, uint32_t kGiven, bool kShared>
struct Horner {
  static constexpr uint32_t kInputs = kGiven;
  static constexpr uint32_t kOutputs = 1;
  static constexpr uint32_t kScratch = kShared ? 1 : 2 * kSteps - 1;  // the last value is the output

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats* scratch, int32_t n) {
    Floats value = in[kGiven - 1];
    for (uint32_t step = 0; step < kSteps; ++step) {
      const Floats& product = scratch[kShared ? 0 : 2 * step];
      // out[0] may be in[0], which is read until the last step.
      const Floats& sum = step + 1 == kSteps ? out[0] : scratch[kShared ? 0 : 2 * step + 1];
      AscendC::Mul(product, value, in[0], n);
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Adds(sum, product, 0.5f, n);
      AscendC::PipeBarrier<PIPE_V>();
      value = sum;
    }
  }
};

// dtype: that of all tensors, as CANN numbers it (ge::DataType).
extern "C" __global__ __aicore__ void own(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t dtype) {
  GM_ADDR in[1] = {x};
  GM_ADDR out[1] = {y};
  RunMapOf<Horner<kHornerSteps, 1, false>>(dtype, in, out, n);
}

extern "C" __global__ __aicore__ void shared(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t dtype) {
  GM_ADDR in[1] = {x};
  GM_ADDR out[1] = {y};
  RunMapOf<Horner<kHornerSteps, 1, true>>(dtype, in, out, n);
}

extern "C" __global__ __aicore__ void first(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t dtype) {
  GM_ADDR in[1] = {x};
  GM_ADDR out[1] = {y};
  RunMapOf<Horner<kHornerSteps / 2, 1, false>>(dtype, in, out, n);
}

// value: what `first` has made.
extern "C" __global__ __aicore__ void rest(GM_ADDR x, GM_ADDR value, GM_ADDR y, uint32_t n, uint32_t dtype) {
  GM_ADDR in[2] = {x, value};
  GM_ADDR out[1] = {y};
  RunMapOf<Horner<kHornerSteps / 2, 2, false>>(dtype, in, out, n);
}

extern "C" __global__ __aicore__ void shared_first(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t dtype) {
  GM_ADDR in[1] = {x};
  GM_ADDR out[1] = {y};
  RunMapOf<Horner<kHornerSteps / 2, 1, true>>(dtype, in, out, n);
}

extern "C" __global__ __aicore__ void shared_rest(GM_ADDR x, GM_ADDR value, GM_ADDR y, uint32_t n, uint32_t dtype) {
  GM_ADDR in[2] = {x, value};
  GM_ADDR out[1] = {y};
  RunMapOf<Horner<kHornerSteps / 2, 2, true>>(dtype, in, out, n);
}
