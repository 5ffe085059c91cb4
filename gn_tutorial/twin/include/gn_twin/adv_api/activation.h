// The high-level function Sigmoid.
//
// Source: docs/zh/api, 高阶API/激活函数. The device composes it from basic instructions in the scratch tensor; the twin
// needs no scratch memory.
#pragma once
#include "gn_twin/base/math.h"
#include "gn_twin/basic_api/vector/forms.h"
#include "gn_twin/tensor/scratch.h"

namespace gn_twin {

// Returns 1 / (1 + e^-x), computed in float for both types and rounded to T at the end. With round_steps every step is
// rounded to T, as in a kernel of basic instructions (docs/hardware-choices.md, sigmoid_half).
struct SigmoidOp {
  bool round_steps = false;
  template <class T>
  T operator()(T value) const {
    const float power = ExpFloat(-static_cast<float>(value));
    if (!round_steps) return T(1.0f / (1.0f + power));
    return T(1.0f / static_cast<float>(T(1.0f + static_cast<float>(T(power)))));
  }
};

template <class T>
void RequireApart(const char* op, Loc loc, const LocalTensor<T>& dst, uint64_t dst_bytes, const LocalTensor<T>& src,
                  uint64_t src_bytes) {
  if constexpr (kObserved) {
    const bool apart = dst.Bytes() + dst_bytes <= src.Bytes() || src.Bytes() + src_bytes <= dst.Bytes();
    if (!apart && dst_bytes > 0 && src_bytes > 0)
      ThisCore().Refuse("operands-overlap", loc, {{"op", op}, {"first", "dst"}, {"second", "src"}});
  }
}
template <class T>
void RequireApart(const char* op, Loc loc, const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t bytes) {
  RequireApart(op, loc, dst, bytes, src, bytes);
}

}  // namespace gn_twin

namespace AscendC {

// Computes the Sigmoid of calCount elements. dst and src must not overlap.
template <class T, bool isReuseSource = false>
inline void Sigmoid(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t calCount,
                    gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, half, float>, "Sigmoid takes half, float");
  gn_twin::RequireApart("Sigmoid", loc, dst, src, uint64_t{calCount} * sizeof(T));
  const gn_twin::SigmoidOp op{gn_twin::ThisCore().job->options.sigmoid_half != 0};
  gn_twin::RunCount("Sigmoid", loc, op, static_cast<int32_t>(calCount), dst, src);
}
template <class T, bool isReuseSource = false>
inline void Sigmoid(const LocalTensor<T>& dst, const LocalTensor<T>& src, const gn_twin::Scratch&,
                    const uint32_t calCount, gn_twin::Loc loc = gn_twin::Loc::here()) {
  Sigmoid<T, isReuseSource>(dst, src, calCount, loc);
}
template <class T, bool isReuseSource = false>
inline void Sigmoid(const LocalTensor<T>& dst, const LocalTensor<T>& src, const gn_twin::Scratch&,
                    gn_twin::Loc loc = gn_twin::Loc::here()) {
  Sigmoid<T, isReuseSource>(dst, src, src.GetSize(), loc);
}
template <class T, bool isReuseSource = false>
inline void Sigmoid(const LocalTensor<T>& dst, const LocalTensor<T>& src, gn_twin::Loc loc = gn_twin::Loc::here()) {
  Sigmoid<T, isReuseSource>(dst, src, src.GetSize(), loc);
}

}  // namespace AscendC
