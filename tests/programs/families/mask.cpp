// A program of calls that set, use and leave the mask register, in any order. Each call adds 1 to the lanes it processes.
#include "bench.h"

enum Op : int64_t {
  kCounterMode,
  kNormalMode,
  kReset,
  kSetBits,
  kSetLanes,
  kSetTotal,
  kAddCount,
  kAddLanes,
  kAddBits,
  kAddOutside,
  kEnd
};

// Mirrored by test_twin_mask.STEP.
struct Step {
  int64_t op, half_wide;
  uint64_t low, high;
  int64_t repeat;
};

template <class T>
__aicore__ void Do(LocalTensor<T> x, const Step& step) {
  const UnaryRepeatParams next(1, 1, 8, 8);
  const uint8_t repeat = static_cast<uint8_t>(step.repeat);
  uint64_t bits[2] = {step.low, step.high};
  switch (step.op) {
    case kSetBits: SetVectorMask<T, MaskMode::NORMAL>(step.high, step.low); break;
    case kSetLanes: SetVectorMask<T, MaskMode::NORMAL>(static_cast<int32_t>(step.low)); break;
    case kSetTotal: SetVectorMask<T, MaskMode::COUNTER>(static_cast<int32_t>(step.low)); break;
    case kAddCount: Adds(x, x, T(1), static_cast<int32_t>(step.low)); break;
    case kAddLanes: Adds(x, x, T(1), step.low, repeat, next); break;
    case kAddBits: Adds(x, x, T(1), bits, repeat, next); break;
    case kAddOutside: Adds<T, false>(x, x, T(1), MASK_PLACEHOLDER, repeat, next); break;
  }
}

extern "C" __global__ __aicore__ void mask(GM_ADDR dst, GM_ADDR src0, GM_ADDR program, GM_ADDR ask) {
  Bench bench(dst, src0, program, ask);
  const LocalTensor<float> floats = bench.Dst<float>();
  const LocalTensor<half> halves = bench.Dst<half>()[kBufferBytes / 2 / sizeof(half)];
  for (__gm__ Step* step = reinterpret_cast<__gm__ Step*>(program); step->op != kEnd; ++step) {
    switch (step->op) {
      case kCounterMode: SetMaskCount(); break;
      case kNormalMode: SetMaskNorm(); break;
      case kReset: ResetMask(); break;
      default: step->half_wide ? Do(halves, *step) : Do(floats, *step);
    }
  }
  SetMaskNorm();
  ResetMask();
  bench.Store();
}
