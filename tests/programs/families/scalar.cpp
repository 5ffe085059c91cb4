// A tensor and a scalar.
#include "bench.h"

enum Op : int64_t { kAdds, kMuls, kMaxs, kMins, kLeakyRelu, kShiftLeft, kShiftRight };

#define OPERATION(NAME)                                                                      \
  case k##NAME:                                                                              \
    if (ask.form == kCounter && ask.flag == 1) { /* the count form with isSetMask = false */ \
      SetMaskCount();                                                                        \
      SetVectorMask<T, MaskMode::COUNTER>(0, static_cast<uint64_t>(ask.count));              \
      NAME<T, false>(dst, src, scalar, 1);                                                   \
      SetMaskNorm();                                                                         \
      ResetMask();                                                                           \
      break;                                                                                 \
    }                                                                                        \
    RUN_FORM(T, NAME(dst, src, scalar, static_cast<int32_t>(ask.count)), CALL_##NAME)        \
    break
#define CALL_OF(NAME, SET, MASK) NAME<T, SET>(dst, src, scalar, MASK, repeat, ask.Unary())
#define CALL_Adds(SET, MASK) CALL_OF(Adds, SET, MASK)
#define CALL_Muls(SET, MASK) CALL_OF(Muls, SET, MASK)
#define CALL_Maxs(SET, MASK) CALL_OF(Maxs, SET, MASK)
#define CALL_Mins(SET, MASK) CALL_OF(Mins, SET, MASK)
#define CALL_LeakyRelu(SET, MASK) CALL_OF(LeakyRelu, SET, MASK)
#define CALL_ShiftLeft(SET, MASK) CALL_OF(ShiftLeft, SET, MASK)
#define CALL_ShiftRight(SET, MASK) CALL_OF(ShiftRight, SET, MASK)

template <class T>
__aicore__ void Run(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<T> src = bench.Src0<T>();
  const T scalar = ask.Scalar<T>();
  const uint8_t repeat = static_cast<uint8_t>(ask.repeat);
  if constexpr (!__is_same(T, uint16_t) && !__is_same(T, uint32_t)) {
    switch (ask.op) {
      OPERATION(Adds);
      OPERATION(Muls);
      OPERATION(Maxs);
      OPERATION(Mins);
    }
  }
  if constexpr (__is_same(T, half) || __is_same(T, float)) {
    switch (ask.op) { OPERATION(LeakyRelu); }
  } else {
    if (ask.op == kShiftRight && ask.flag == 2) {  // with rounding
      ShiftRight(dst, src, scalar, static_cast<uint64_t>(ask.low), repeat, ask.Unary(), true);
      return;
    }
    switch (ask.op) {
      OPERATION(ShiftLeft);
      OPERATION(ShiftRight);
    }
  }
}

extern "C" __global__ __aicore__ void scalar(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask) {
  Bench bench(dst, src0, src1, ask);
  switch (bench.ask.type) {
    case kInt16: Run<int16_t>(bench); break;
    case kUint16: Run<uint16_t>(bench); break;
    case kInt32: Run<int32_t>(bench); break;
    case kUint32: Run<uint32_t>(bench); break;
    case kHalf: Run<half>(bench); break;
    case kFloat: Run<float>(bench); break;
  }
  bench.Store();
}
