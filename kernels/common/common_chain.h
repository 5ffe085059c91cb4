// Several formulas of common_elements.h as one: Chain<F, G, H> makes h(g(f(...), ...), ...) of a tile while it is in local memory.
//
// What one formula makes is the first input of the next. The inputs of the chain are those of the first formula, then what the others
// take besides, in order. All formulas but the last have one output, which stays in one intermediate tensor; each may use the same
// scratch, because only one of them works at a time. So a chain of k formulas is one launch: it reads each input once, writes the
// result once, and what passes from one formula to the next never leaves the core.
#pragma once
#include "common_elements.h"

template <class First, class... Rest>
constexpr uint32_t MostScratch() {
  if constexpr (sizeof...(Rest) == 0) {
    return First::kScratch;
  } else {
    return First::kScratch > MostScratch<Rest...>() ? First::kScratch : MostScratch<Rest...>();
  }
}

template <class First, class... Rest>
constexpr uint32_t OutputsOfLast() {
  if constexpr (sizeof...(Rest) == 0) {
    return First::kOutputs;
  } else {
    static_assert(First::kOutputs == 1, "a formula that hands its result on has one output");
    return OutputsOfLast<Rest...>();
  }
}

template <class... Formulas>
struct Chain {
  static constexpr uint32_t kInputs = (Formulas::kInputs + ...) - (static_cast<uint32_t>(sizeof...(Formulas)) - 1);
  static constexpr uint32_t kOutputs = OutputsOfLast<Formulas...>();
  static constexpr uint32_t kScratch = 1 + MostScratch<Formulas...>();  // the first: what passes from one to the next

  __aicore__ static inline void Apply(const Floats* out, const Floats* in, const Floats* scratch, int32_t n) {
    Link<Formulas...>(out, in[0], in + 1, scratch, n);
  }

 private:
  // first: what the formula before has made. others: the chain's inputs that are not used up.
  template <class Formula, class... Rest>
  __aicore__ static inline void Link(const Floats* out, const Floats& first, const Floats* others,
                                     const Floats* scratch, int32_t n) {
    Floats in[Formula::kInputs];
    in[0] = first;
    for (uint32_t i = 1; i < Formula::kInputs; ++i) in[i] = others[i - 1];
    if constexpr (sizeof...(Rest) == 0) {
      Formula::Apply(out, in, scratch + 1, n);
    } else {
      Formula::Apply(scratch, in, scratch + 1, n);
      AscendC::PipeBarrier<PIPE_V>();
      Link<Rest...>(out, scratch[0], others + (Formula::kInputs - 1), scratch, n);
    }
  }
};
