// The operators on whole tensors: `dst = a + b`, `mask = a < b`.
//
// Source: docs/zh/api, the operator form of each page of 基础算术, 逻辑计算 and 比较与选择. An operator covers as many elements as
// dst has. A comparison covers the elements of its first operand (for a part of a repeat see CompareLengthOf).
#pragma once
#include "gn_twin/basic_api/vector/binary.h"
#include "gn_twin/basic_api/vector/compare.h"
#include "gn_twin/basic_api/vector/logic.h"

namespace gn_twin {

// Returns the place of the last operation that has a `loc`. An operator cannot have such a default argument, so its
// mistakes are reported at that place.
inline Loc LastPlace() { return ThisCore().Here(); }

// The expression `a SIGN b`. It is computed when a kernel assigns it to a tensor.
template <class T, class Op>
struct BinaryExpression {
  LocalTensor<T> a;
  LocalTensor<T> b;
  const char* name;
  void Into(LocalTensor<T>& dst) const {
    WithOptions<Op, T>(
        [&](auto op) { RunCount(name, LastPlace(), op, static_cast<int32_t>(dst.GetSize()), dst, a, b); });
  }
};

template <class T>
struct CompareExpression {
  LocalTensor<T> a;
  LocalTensor<T> b;
  CMPMODE mode;
  template <class U>
  void Into(LocalTensor<U>& dst) const {
    AscendC::Compare(dst, a, b, mode, a.GetSize(), LastPlace());
  }
};

}  // namespace gn_twin

namespace AscendC {

#define GNT_BINARY_OPERATOR(SIGN, OP)                                                                                \
  template <class T>                                                                                                 \
  inline gn_twin::BinaryExpression<T, gn_twin::OP> operator SIGN(const LocalTensor<T>& a, const LocalTensor<T>& b) { \
    return {a, b, "operator" #SIGN};                                                                                 \
  }
GNT_BINARY_OPERATOR(+, AddOp)
GNT_BINARY_OPERATOR(-, SubOp)
GNT_BINARY_OPERATOR(*, MulOp)
GNT_BINARY_OPERATOR(/, DivOp)
GNT_BINARY_OPERATOR(&, AndOp)
GNT_BINARY_OPERATOR(|, OrOp)
#undef GNT_BINARY_OPERATOR

#define GNT_COMPARE_OPERATOR(SIGN, MODE)                                                                 \
  template <class T>                                                                                     \
  inline gn_twin::CompareExpression<T> operator SIGN(const LocalTensor<T>& a, const LocalTensor<T>& b) { \
    return {a, b, CMPMODE::MODE};                                                                        \
  }
GNT_COMPARE_OPERATOR(<, LT)
GNT_COMPARE_OPERATOR(>, GT)
GNT_COMPARE_OPERATOR(<=, LE)
GNT_COMPARE_OPERATOR(>=, GE)
GNT_COMPARE_OPERATOR(==, EQ)
GNT_COMPARE_OPERATOR(!=, NE)
#undef GNT_COMPARE_OPERATOR

}  // namespace AscendC
