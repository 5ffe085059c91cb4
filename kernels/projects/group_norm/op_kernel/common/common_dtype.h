// Tensors of float, half or bfloat16: computed on as float, whatever they come as and leave as.
//
// Every half and every bfloat16 is a float, too, so Widen loses nothing; Narrow rounds to the nearest, ties to even. For float both
// do nothing: a tensor is its own widened form.
#pragma once
#include "kernel_operator.h"

template <class T>
constexpr bool kIsFloat = sizeof(T) == sizeof(float);

// `count` elements of x as floats: x itself, or a copy in `space`.
template <class T>
__aicore__ inline AscendC::LocalTensor<float> Widen(const AscendC::LocalTensor<float>& space,
                                                    const AscendC::LocalTensor<T>& x, uint32_t count) {
  if constexpr (kIsFloat<T>) {
    return x;
  } else {
    AscendC::Cast(space, x, AscendC::RoundMode::CAST_NONE, count);
    return space;
  }
}

// The way back: y is what was widened, and `wide` what Widen returned.
template <class T>
__aicore__ inline void Narrow(const AscendC::LocalTensor<T>& y, const AscendC::LocalTensor<float>& wide,
                              uint32_t count) {
  if constexpr (!kIsFloat<T>) AscendC::Cast(y, wide, AscendC::RoundMode::CAST_RINT, count);
}

// A number of the scalar unit.
__aicore__ inline float NumberOf(float value) { return value; }
__aicore__ inline float NumberOf(half value) { return static_cast<float>(value); }
__aicore__ inline float NumberOf(bfloat16_t value) { return AscendC::ToFloat(value); }

// Makes an operator's class and runs it: its Init takes the pipe, then what is given here.
template <class Operator, class... Args>
__aicore__ inline void RunOperator(const Args&... args) {
  AscendC::TPipe pipe;
  Operator op;
  op.Init(&pipe, args...);
  op.Process();
}

// The same for a class of which the dtype is the parameter. dtype: as CANN numbers it (ge::DataType); another number does nothing.
template <template <class> class Operator, class... Args>
__aicore__ inline void RunForDtype(uint32_t dtype, const Args&... args) {
  switch (dtype) {
    case 0: return RunOperator<Operator<float>>(args...);
    case 1: return RunOperator<Operator<half>>(args...);
    case 27: return RunOperator<Operator<bfloat16_t>>(args...);
  }
}
