// High-level functions. op: the function; count: elements; flag: 0 count, 1 scratch and count, 2 scratch, 3 the whole source.
#include "bench.h"

#define CALL_FOUR(NAME)                                      \
  switch (ask.flag) {                                        \
    case 0: NAME(dst, src, count); break;                    \
    case 1: NAME<T, false>(dst, src, scratch, count); break; \
    case 2: NAME(dst[0], src[0], scratch); break;            \
    case 3: NAME<T>(dst, src); break;                        \
  }                                                          \
  break;

template <class T>
__aicore__ void Function(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<T> src = bench.Src0<T>();
  LocalTensor<uint8_t> scratch;
  const uint32_t count = static_cast<uint32_t>(ask.count);
  switch (ask.op) {
    case 0: CALL_FOUR(Sin)
    case 1: CALL_FOUR(Cos)
    case 2: CALL_FOUR(Tan)
    case 3: CALL_FOUR(Asin)
    case 4: CALL_FOUR(Acos)
    case 5: CALL_FOUR(Atan)
    case 6: CALL_FOUR(Sinh)
    case 7: CALL_FOUR(Cosh)
    case 8: CALL_FOUR(Tanh)
    case 9: CALL_FOUR(Asinh)
    case 10: CALL_FOUR(Acosh)
    case 11: CALL_FOUR(Atanh)
    case 12: CALL_FOUR(Log2)
    case 13: CALL_FOUR(Log10)
    case 14: CALL_FOUR(Erf)
    case 15: CALL_FOUR(Erfc)
    case 16: CALL_FOUR(Floor)
    case 17: CALL_FOUR(Ceil)
    case 18: CALL_FOUR(Trunc)
    case 19: CALL_FOUR(Frac)
    case 20: CALL_FOUR(Sign)
    case 21: ask.flag == 0 ? Log(dst, src, count) : Log(dst, src); break;
    case 22: ask.flag == 0 ? Round(dst, src, count) : Round(dst, src, scratch, count); break;
    case 23: Silu(dst, src, count); break;
    case 24: Swish(dst, src, count, ask.Scalar<T>()); break;
    case 25: ask.flag == 0 ? Gelu(dst, src, count) : Gelu(dst, src, scratch, count); break;
    case 26: ask.flag == 0 ? FasterGelu(dst, src, count) : FasterGelu(dst, src, scratch, count); break;
  }
}

// mode: 0 tensor and tensor, 1 tensor and scalar, 2 scalar and tensor.
template <class T>
__aicore__ void Powers(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<T> x = bench.Src0<T>();
  LocalTensor<T> y = bench.Src1<T>();
  LocalTensor<uint8_t> scratch;
  const uint32_t count = static_cast<uint32_t>(ask.count);
  const T scalar = ask.Scalar<T>();
  if (ask.mode == 0) ask.flag == 0 ? Power(dst, x, y, count) : Power(dst, x, y);
  if (ask.mode == 1) ask.flag == 0 ? Power(dst, x, scalar, count) : Power<T, false>(dst, x, scalar, scratch);
  if (ask.mode == 2) ask.flag == 0 ? Power(dst, scalar, y, scratch, count) : Power<T>(dst, scalar, y);
}

// extra: shape of dst, shape of src; mode: axis, or 2 for one dimension.
template <class T>
__aicore__ void Rows(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<uint8_t> scratch;
  const uint32_t to[2] = {static_cast<uint32_t>(ask.extra[0]), static_cast<uint32_t>(ask.extra[1])};
  const uint32_t from[2] = {static_cast<uint32_t>(ask.extra[2]), static_cast<uint32_t>(ask.extra[3])};
  if (ask.mode == 0) Broadcast<T, 2, 0>(bench.Dst<T>(), bench.Src0<T>(), to, from);
  if (ask.mode == 1) BroadCast<T, 2, 1>(bench.Dst<T>(), bench.Src0<T>(), to, from, scratch);
  if (ask.mode == 2) Broadcast<T, 1, 0, false>(bench.Dst<T>(), bench.Src0<T>(), to + 1, from + 1);
}

// extra: rows, inner, n.
template <class T>
__aicore__ void Sums(Bench& bench) {
  const Ask& ask = bench.ask;
  Sum(bench.Dst<T>(), bench.Src0<T>(),
      SumParams{static_cast<uint32_t>(ask.extra[0]), static_cast<uint32_t>(ask.extra[1]),
                static_cast<uint32_t>(ask.extra[2])});
}

template <class T>
__aicore__ void Any(Bench& bench) {
  const int64_t op = bench.ask.op;
  if constexpr (gn_twin::kOneOf<T, half, float>) {
    if (op < 30) Function<T>(bench);
    if (op == 32) Sums<T>(bench);
  }
  if constexpr (gn_twin::kOneOf<T, half, float, int32_t>) {
    if (op == 30) Powers<T>(bench);
  }
  if constexpr (gn_twin::kOneOf<T, half, float, int8_t, uint8_t>) {
    if (op == 31) Rows<T>(bench);
  }
}

extern "C" __global__ __aicore__ void maths(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask_address) {
  Bench bench(dst, src0, src1, ask_address);
  switch (bench.ask.type) {
    case kHalf: Any<half>(bench); break;
    case kFloat: Any<float>(bench); break;
    case kInt32: Any<int32_t>(bench); break;
    case kInt8: Any<int8_t>(bench); break;
    case kUint8: Any<uint8_t>(bench); break;
  }
  bench.Store();
}
