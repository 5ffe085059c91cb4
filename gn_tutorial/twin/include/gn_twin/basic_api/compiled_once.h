// Instances of the twin's templates that most kernels use. g++ compiles them once, into the object that observed kernels
// link in (compiler/precompiled_header.py), because otherwise they are half of the code of each kernel.
//
// GNT_COMPILED_ONCE is `extern` in the precompiled header and empty in that object. Where it is not defined, each kernel
// compiles what it uses. Only functions that are not `inline` gain: g++ compiles the others anyway, to inline them.
#pragma once
#ifdef GNT_COMPILED_ONCE
#include "gn_twin/basic_api/memory/data_copy_pad.h"
#include "gn_twin/basic_api/vector/binary.h"
#include "gn_twin/basic_api/vector/cast.h"
#include "gn_twin/basic_api/vector/fill.h"
#include "gn_twin/basic_api/vector/fused.h"
#include "gn_twin/basic_api/vector/reduce.h"
#include "gn_twin/basic_api/vector/scalar.h"
#include "gn_twin/basic_api/vector/unary.h"

namespace gn_twin {

#define GNT_COPIES(T)                                                                                                \
  GNT_COMPILED_ONCE template void CopyIn(Loc, const LocalTensor<T>&, Rows, const GlobalTensor<T>&, Rows);            \
  GNT_COMPILED_ONCE template void CopyOut(const char*, Loc, uint32_t, const GlobalTensor<T>&, Rows,                  \
                                          const LocalTensor<T>&, Rows, bool);                                        \
  GNT_COMPILED_ONCE template void CopyPadIn(Loc, const LocalTensor<T>&, const GlobalTensor<T>&, uint32_t, uint64_t,  \
                                            uint64_t, uint64_t, const Padding&);                                     \
  GNT_COMPILED_ONCE template void CopyPadOut(Loc, const GlobalTensor<T>&, const LocalTensor<T>&, uint32_t, uint64_t, \
                                             uint64_t, uint64_t);
GNT_COPIES(float)
GNT_COPIES(half)
GNT_COPIES(bfloat16_t)
GNT_COPIES(int32_t)
#undef GNT_COPIES

// Of an operation on float, the form with a count.
#define GNT_COUNT(OP, ...)                                                \
  GNT_COMPILED_ONCE template void RunCount(const char*, Loc, OP, int32_t, \
                                           const LocalTensor<float>& __VA_OPT__(, ) __VA_ARGS__);
#define GNT_OF const LocalTensor<float>&
GNT_COUNT(AddOp, GNT_OF, GNT_OF)
GNT_COUNT(SubOp, GNT_OF, GNT_OF)
GNT_COUNT(MulOp, GNT_OF, GNT_OF)
GNT_COUNT(DivOp, GNT_OF, GNT_OF)
GNT_COUNT(AxpyOp, GNT_OF, GNT_OF)
GNT_COUNT(AbsOp, GNT_OF)
GNT_COUNT(ExpOp, GNT_OF)
GNT_COUNT(SqrtOp, GNT_OF)
using TimesFloat = WithScalar<MulOp, float>;
using PlusFloat = WithScalar<AddOp, float>;
GNT_COUNT(TimesFloat, GNT_OF)
GNT_COUNT(PlusFloat, GNT_OF)
GNT_COUNT(Constant<float>)
#undef GNT_COUNT

// Sums of blocks and of whole tensors.
#define GNT_GROUPS(MASK)                                                                                       \
  GNT_COMPILED_ONCE template void RunGroupReduce(const char*, Loc, GNT_OF, GNT_OF, int32_t, const MASK&, bool, \
                                                 uint32_t, uint32_t, int32_t, Strides, int);
GNT_GROUPS(int32_t)
GNT_GROUPS(uint32_t)
#undef GNT_GROUPS
#undef GNT_OF

#define GNT_CAST(D, S) \
  GNT_COMPILED_ONCE template void CastCount(Loc, const LocalTensor<D>&, const LocalTensor<S>&, RoundMode, uint32_t);
GNT_CAST(float, half)
GNT_CAST(half, float)
GNT_CAST(float, bfloat16_t)
GNT_CAST(bfloat16_t, float)
#undef GNT_CAST

}  // namespace gn_twin
#endif
