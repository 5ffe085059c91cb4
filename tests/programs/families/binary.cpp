// Two sources, one result.
#include "bench.h"

enum Op : int64_t { kAdd, kSub, kMul, kDiv, kMax, kMin, kAddRelu, kSubRelu, kAnd, kOr };

#define OPERATION(NAME) \
  case k##NAME: RUN_FORM(T, NAME(dst, src0, src1, static_cast<int32_t>(ask.count)), CALL_##NAME) break
#define CALL_OF(NAME, SET, MASK) NAME<T, SET>(dst, src0, src1, MASK, static_cast<uint8_t>(ask.repeat), ask.Binary())
#define CALL_Add(SET, MASK) CALL_OF(Add, SET, MASK)
#define CALL_Sub(SET, MASK) CALL_OF(Sub, SET, MASK)
#define CALL_Mul(SET, MASK) CALL_OF(Mul, SET, MASK)
#define CALL_Div(SET, MASK) CALL_OF(Div, SET, MASK)
#define CALL_Max(SET, MASK) CALL_OF(Max, SET, MASK)
#define CALL_Min(SET, MASK) CALL_OF(Min, SET, MASK)
#define CALL_AddRelu(SET, MASK) CALL_OF(AddRelu, SET, MASK)
#define CALL_SubRelu(SET, MASK) CALL_OF(SubRelu, SET, MASK)
#define CALL_And(SET, MASK) CALL_OF(And, SET, MASK)
#define CALL_Or(SET, MASK) CALL_OF(Or, SET, MASK)

template <class T, class A, class B>
constexpr bool Either() {
  return __is_same(T, A) || __is_same(T, B);
}

template <class T>
__aicore__ void Run(Bench& bench) {
  const Ask& ask = bench.ask;
  LocalTensor<T> dst = bench.Dst<T>();
  LocalTensor<T> src0 = bench.Src0<T>();
  LocalTensor<T> src1 = bench.Src1<T>();
  if constexpr (!__is_same(T, uint16_t)) {
    switch (ask.op) {
      OPERATION(Add);
      OPERATION(Sub);
      OPERATION(Mul);
      OPERATION(Max);
      OPERATION(Min);
    }
    if constexpr (!__is_same(T, int32_t)) {
      switch (ask.op) {
        OPERATION(AddRelu);
        OPERATION(SubRelu);
      }
    }
  }
  if constexpr (Either<T, half, float>()) {
    switch (ask.op) { OPERATION(Div); }
  }
  if constexpr (Either<T, int16_t, uint16_t>()) {
    switch (ask.op) {
      OPERATION(And);
      OPERATION(Or);
    }
  }
}

extern "C" __global__ __aicore__ void binary(GM_ADDR dst, GM_ADDR src0, GM_ADDR src1, GM_ADDR ask) {
  Bench bench(dst, src0, src1, ask);
  switch (bench.ask.type) {
    case kInt16: Run<int16_t>(bench); break;
    case kUint16: Run<uint16_t>(bench); break;
    case kInt32: Run<int32_t>(bench); break;
    case kHalf: Run<half>(bench); break;
    case kFloat: Run<float>(bench); break;
  }
  bench.Store();
}
