// Cast between every documented pair of types.
#include "bench.h"

// type: source, type2: destination, mode: rounding mode. ALL_FORMS: mask array and outside mask too.
template <class T, class U, bool kAllForms>
__aicore__ void Convert(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<U> src = bench.Src0<U>();
  const RoundMode mode = static_cast<RoundMode>(ask.mode);
  const uint8_t repeat = static_cast<uint8_t>(ask.repeat);
#define CALL_CAST(SET, MASK) Cast<T, U, SET>(dst, src, mode, MASK, repeat, ask.Unary())
  if constexpr (kAllForms) {
    RUN_FORM(T, Cast(dst, src, mode, static_cast<uint32_t>(ask.count)), CALL_CAST)
  } else if (ask.form == kCount) {
    Cast(dst, src, mode, static_cast<uint32_t>(ask.count));
  } else {
    CALL_CAST(true, static_cast<uint64_t>(ask.low));
  }
}

template <class U, Type kFrom, class T, Type kTo, bool kAllForms = false>
__aicore__ void Pair(Bench& bench) {
  if (bench.ask.type == kFrom && bench.ask.type2 == kTo) Convert<T, U, kAllForms>(bench);
}

extern "C" __global__ __aicore__ void cast(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask) {
  Bench bench(dst, src0, src1, ask);
  if (bench.ask.flag != 0) SetDeqScale(bench.ask.Scalar<half>());
  Pair<int8_t, kInt8, half, kHalf>(bench);
  Pair<uint8_t, kUint8, half, kHalf>(bench);
  Pair<int16_t, kInt16, half, kHalf>(bench);
  Pair<int16_t, kInt16, float, kFloat>(bench);
  Pair<half, kHalf, int8_t, kInt8>(bench);
  Pair<half, kHalf, uint8_t, kUint8>(bench);
  Pair<half, kHalf, int16_t, kInt16>(bench);
  Pair<half, kHalf, int32_t, kInt32>(bench);
  Pair<half, kHalf, float, kFloat, true>(bench);
  Pair<bfloat16_t, kBfloat16, int32_t, kInt32>(bench);
  Pair<bfloat16_t, kBfloat16, float, kFloat>(bench);
  Pair<int32_t, kInt32, int16_t, kInt16>(bench);
  Pair<int32_t, kInt32, half, kHalf>(bench);
  Pair<int32_t, kInt32, float, kFloat>(bench);
  Pair<int32_t, kInt32, int64_t, kInt64>(bench);
  Pair<float, kFloat, int16_t, kInt16>(bench);
  Pair<float, kFloat, half, kHalf, true>(bench);
  Pair<float, kFloat, bfloat16_t, kBfloat16>(bench);
  Pair<float, kFloat, int32_t, kInt32>(bench);
  Pair<float, kFloat, float, kFloat>(bench);
  Pair<float, kFloat, int64_t, kInt64>(bench);
  Pair<int64_t, kInt64, int32_t, kInt32>(bench);
  Pair<int64_t, kInt64, float, kFloat>(bench);
  bench.Store();
}
