// One source, one result; and the instructions whose destination is also a source.
#include "bench.h"

enum Op : int64_t {
  kAbs,
  kExp,
  kLn,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kRelu,
  kNot,
  kSigmoid,
  kAxpy,
  kMulAddDst,
  kFusedMulAdd,
  kFusedMulAddRelu
};

#define OPERATION(NAME) \
  case k##NAME: RUN_FORM(T, NAME(dst, src, static_cast<int32_t>(ask.count)), CALL_##NAME) break
#define CALL_OF(NAME, SET, MASK) NAME<T, SET>(dst, src, MASK, static_cast<uint8_t>(ask.repeat), ask.Unary())
#define CALL_Abs(SET, MASK) CALL_OF(Abs, SET, MASK)
#define CALL_Exp(SET, MASK) CALL_OF(Exp, SET, MASK)
#define CALL_Ln(SET, MASK) CALL_OF(Ln, SET, MASK)
#define CALL_Sqrt(SET, MASK) CALL_OF(Sqrt, SET, MASK)
#define CALL_Rsqrt(SET, MASK) CALL_OF(Rsqrt, SET, MASK)
#define CALL_Reciprocal(SET, MASK) CALL_OF(Reciprocal, SET, MASK)
#define CALL_Relu(SET, MASK) CALL_OF(Relu, SET, MASK)
#define CALL_Not(SET, MASK) CALL_OF(Not, SET, MASK)

template <class T>
__aicore__ void Run(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<T> src = bench.Src0<T>();
  if constexpr (__is_same(T, half) || __is_same(T, float)) {
    switch (ask.op) {
      OPERATION(Abs);
      OPERATION(Exp);
      OPERATION(Ln);
      OPERATION(Sqrt);
      OPERATION(Rsqrt);
      OPERATION(Reciprocal);
      case kSigmoid: Sigmoid(dst, src, static_cast<uint32_t>(ask.count)); break;
    }
  }
  if constexpr (__is_same(T, half) || __is_same(T, float) || __is_same(T, int32_t)) {
    switch (ask.op) { OPERATION(Relu); }
  } else {
    switch (ask.op) { OPERATION(Not); }
  }
}

// T: destination, U: sources.
template <class T, class U>
__aicore__ void Accumulate(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<U> src0 = bench.Src0<U>();
  LocalTensor<U> src1 = bench.Src1<U>();
  const U scalar = ask.Scalar<U>();
  const uint8_t repeat = static_cast<uint8_t>(ask.repeat);
  const int32_t count = static_cast<int32_t>(ask.count);
#define CALL_AXPY(SET, MASK) Axpy<T, U, SET>(dst, src0, scalar, MASK, repeat, ask.Unary())
#define CALL_MULADDDST(SET, MASK) MulAddDst<T, U, SET>(dst, src0, src1, MASK, repeat, ask.Binary())
#define CALL_FUSED(SET, MASK) FusedMulAdd<T, SET>(dst, src0, src1, MASK, repeat, ask.Binary())
#define CALL_FUSED_RELU(SET, MASK) FusedMulAddRelu<T, SET>(dst, src0, src1, MASK, repeat, ask.Binary())
  switch (ask.op) {
    case kAxpy: RUN_FORM(T, Axpy(dst, src0, scalar, count), CALL_AXPY) break;
    case kMulAddDst: RUN_FORM(T, MulAddDst(dst, src0, src1, count), CALL_MULADDDST) break;
    case kFusedMulAdd:
      if constexpr (__is_same(T, U)) {
        RUN_FORM(T, FusedMulAdd(dst, src0, src1, count), CALL_FUSED)
      }
      break;
    case kFusedMulAddRelu:
      if constexpr (__is_same(T, U)) {
        RUN_FORM(T, FusedMulAddRelu(dst, src0, src1, count), CALL_FUSED_RELU)
      }
      break;
  }
}

extern "C" __global__ __aicore__ void unary(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask_address) {
  Bench bench(dst, src0, src1, ask_address);
  const Ask& ask = bench.ask;
  if (ask.op >= kAxpy) {
    if (ask.type == kFloat && ask.type2 == kFloat) Accumulate<float, float>(bench);
    if (ask.type == kFloat && ask.type2 == kHalf) Accumulate<float, half>(bench);
    if (ask.type == kHalf && ask.type2 == kHalf) Accumulate<half, half>(bench);
  } else {
    switch (ask.type) {
      case kInt16: Run<int16_t>(bench); break;
      case kUint16: Run<uint16_t>(bench); break;
      case kInt32: Run<int32_t>(bench); break;
      case kHalf: Run<half>(bench); break;
      case kFloat: Run<float>(bench); break;
    }
  }
  bench.Store();
}
