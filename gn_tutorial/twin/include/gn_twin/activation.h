// High-level functions of one tensor: Sigmoid.
//
// Source: docs/zh/api, 高阶API/激活函数. The device composes them from basic instructions in the scratch tensor; the twin needs none.
#pragma once
#include "gn_twin/math.h"
#include "gn_twin/vector_forms.h"

namespace gn_twin {

// 1 / (1 + e^-x), computed in float for both types and rounded once. How many roundings the device's half version makes is not
// public: compare with a tolerance.
struct SigmoidOp {
  template <class T>
  T operator()(T value) const {
    return T(1.0f / (1.0f + ExpFloat(-static_cast<float>(value))));
  }
};

template <class T>
void RequireApart(const char* op, Loc loc, const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t bytes) {
  if constexpr (kObserved) {
    const bool apart = dst.Bytes() + bytes <= src.Bytes() || src.Bytes() + bytes <= dst.Bytes();
    if (!apart && bytes > 0) ThisCore().Stop("operands-overlap", loc, {{"op", op}, {"first", "dst"}, {"second", "src"}});
  }
}

}  // namespace gn_twin

namespace AscendC {

// dst and src must not overlap.
template <class T, bool isReuseSource = false>
inline void Sigmoid(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t calCount,
                    gn_twin::Loc loc = gn_twin::Loc::here()) {
  static_assert(gn_twin::kOneOf<T, half, float>, "Sigmoid takes half, float");
  gn_twin::RequireApart("Sigmoid", loc, dst, src, uint64_t{calCount} * sizeof(T));
  gn_twin::RunCount("Sigmoid", loc, gn_twin::SigmoidOp{}, static_cast<int32_t>(calCount), dst, src);
}
template <class T, bool isReuseSource = false>
inline void Sigmoid(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>&, const uint32_t calCount,
                    gn_twin::Loc loc = gn_twin::Loc::here()) {
  Sigmoid<T, isReuseSource>(dst, src, calCount, loc);
}
template <class T, bool isReuseSource = false>
inline void Sigmoid(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>&,
                    gn_twin::Loc loc = gn_twin::Loc::here()) {
  Sigmoid<T, isReuseSource>(dst, src, src.GetSize(), loc);
}
template <class T, bool isReuseSource = false>
inline void Sigmoid(const LocalTensor<T>& dst, const LocalTensor<T>& src, gn_twin::Loc loc = gn_twin::Loc::here()) {
  Sigmoid<T, isReuseSource>(dst, src, src.GetSize(), loc);
}

}  // namespace AscendC
