// Names of the Ascend C SIMD API that the twin does not have yet: a kernel that uses one gets a compile error that says
// so, at its own line, instead of "not declared in this scope".
//
// The names are the documented functions of the basic and high-level API that a kernel calls (docs/zh/api/SIMD-API of
// asc-devkit, mid-2026) and their older spellings that public kernels still use. Left out: host tiling functions,
// member functions, Tensor API, register API and C API. An operation that moves into the twin loses its line here and
// gets an entry in apis.toml; tests/twin/test_every_name.py checks that no name is in both.
#pragma once

namespace gn_twin {

// Accepts any argument, braced lists too, and stands for any result. Being reached by a user-defined conversion, it
// loses every overload resolution against a learner's own function of the same name.
struct NotYet {
  NotYet();
  template <class A>
  NotYet(const A&);
  template <class A, class B, class... C>
  NotYet(const A&, const B&, const C&...);
  template <class T>
  operator T() const;
};

}  // namespace gn_twin

// Explicit template arguments of each kind have to reach the message: types; values; a type or two, then values; a
// value, then types. 16 parameters: the longest documented list has 14.
#define GNT_ANY gn_twin::NotYet = {}
#define GNT_FOUR GNT_ANY, GNT_ANY, GNT_ANY, GNT_ANY
#define GNT_PARAMETERS GNT_FOUR, GNT_FOUR, GNT_FOUR, GNT_FOUR
#define GNT_REJECT(NAME, MESSAGE)                                             \
  template <class... Gt>                                                      \
  __attribute__((unavailable(MESSAGE))) gn_twin::NotYet NAME(GNT_PARAMETERS); \
  template <auto Gv, auto... Gw>                                              \
  __attribute__((unavailable(MESSAGE))) gn_twin::NotYet NAME(GNT_PARAMETERS); \
  template <class Gt, auto Gv, auto... Gw>                                    \
  __attribute__((unavailable(MESSAGE))) gn_twin::NotYet NAME(GNT_PARAMETERS); \
  template <class Gt, class Gu, auto Gv, auto... Gw>                          \
  __attribute__((unavailable(MESSAGE))) gn_twin::NotYet NAME(GNT_PARAMETERS); \
  template <auto Gv, class Gt, class... Gu>                                   \
  __attribute__((unavailable(MESSAGE))) gn_twin::NotYet NAME(GNT_PARAMETERS);
#define GNT_NOT_YET(NAME) GNT_REJECT(NAME, "not on the twin yet: " #NAME)
// Documented, but for other products than Atlas A2 (dav-2201), which is the machine of the twin.
#define GNT_NOT_YET_NOR_A2(NAME) GNT_REJECT(NAME, "not on the twin yet: " #NAME " (nor on Atlas A2)")
#define GNT_NOT_YET_TYPE(NAME) \
  struct __attribute__((unavailable("not on the twin yet: " #NAME))) NAME {};
#define GNT_NOT_YET_TEMPLATE(NAME, PARAMETERS) \
  template <PARAMETERS>                        \
  struct __attribute__((unavailable("not on the twin yet: " #NAME))) NAME {};

namespace AscendC {

GNT_NOT_YET(AddDeqRelu)
GNT_NOT_YET(AddReluCast)
GNT_NOT_YET(Async)
GNT_NOT_YET(BatchNorm)
GNT_NOT_YET(BilinearInterpolation)
GNT_NOT_YET(CastDeq)
GNT_NOT_YET(CastDequant)
GNT_NOT_YET(CheckLocalMemoryIA)
GNT_NOT_YET(ConfusionTranspose)
GNT_NOT_YET(Crd2Idx)
GNT_NOT_YET(CreateCubeResGroup)
GNT_NOT_YET(DataCopyL1ToUB)
GNT_NOT_YET(Digamma)
GNT_NOT_YET(DumpAccChkPoint)
GNT_NOT_YET(FasterGeluV2)
GNT_NOT_YET(Fixpipe)
GNT_NOT_YET(FusedMulAddRelu)
GNT_NOT_YET(GetArchVersion)
GNT_NOT_YET(GetHcclContext)
GNT_NOT_YET(GetICachePreloadStatus)
GNT_NOT_YET(GetProgramCounter)
GNT_NOT_YET(GetSaturationStrategy)
GNT_NOT_YET(GetStoreAtomicConfig)
GNT_NOT_YET(GetUintDivMagicAndShift)
GNT_NOT_YET(GroupNorm)
GNT_NOT_YET(ICachePreLoad)
GNT_NOT_YET(Lgamma)
GNT_NOT_YET(LoadData)
GNT_NOT_YET(LoadDataWithSparse)
GNT_NOT_YET(LoadDataWithTranspose)
GNT_NOT_YET(LoadImageToLocal)
GNT_NOT_YET(MakeCoord)
GNT_NOT_YET(MakeLayout)
GNT_NOT_YET(MakeShape)
GNT_NOT_YET(MakeStride)
GNT_NOT_YET(MakeTensorTrait)
GNT_NOT_YET(MetricsProfStart)
GNT_NOT_YET(MetricsProfStop)
GNT_NOT_YET(Mmad)
GNT_NOT_YET(MmadWithSparse)
GNT_NOT_YET(MulAddRelu)
GNT_NOT_YET(MulCast)
GNT_NOT_YET(Nop)
GNT_NOT_YET(PrintTimeStamp)
GNT_NOT_YET(ReduceAll)
GNT_NOT_YET(ReduceAny)
GNT_NOT_YET(ReduceXorSum)
GNT_NOT_YET(SetAippFunctions)
GNT_NOT_YET(SetFixPipeConfig)
GNT_NOT_YET(SetFixpipeNz2ndFlag)
GNT_NOT_YET(SetFixpipePreQuantFlag)
GNT_NOT_YET(SetFmatrix)
GNT_NOT_YET(SetHF32Mode)
GNT_NOT_YET(SetHF32TransMode)
GNT_NOT_YET(SetHcclContext)
GNT_NOT_YET(SetLoadDataBoundary)
GNT_NOT_YET(SetLoadDataPaddingValue)
GNT_NOT_YET(SetLoadDataRepeat)
GNT_NOT_YET(SetMMColumnMajor)
GNT_NOT_YET(SetMMRowMajor)
GNT_NOT_YET(SetSaturationStrategy)
GNT_NOT_YET(SetStoreAtomicConfig)
GNT_NOT_YET(SubReluCast)
GNT_NOT_YET(TransData)
GNT_NOT_YET(Trap)

GNT_NOT_YET_NOR_A2(AbsSub)
GNT_NOT_YET_NOR_A2(AllocMutexID)
GNT_NOT_YET_NOR_A2(Ands)
GNT_NOT_YET_NOR_A2(AntiQuantize)
GNT_NOT_YET_NOR_A2(AtomicAdd)
GNT_NOT_YET_NOR_A2(AtomicCas)
GNT_NOT_YET_NOR_A2(AtomicExch)
GNT_NOT_YET_NOR_A2(AtomicMax)
GNT_NOT_YET_NOR_A2(AtomicMin)
GNT_NOT_YET_NOR_A2(BitwiseAnd)
GNT_NOT_YET_NOR_A2(BitwiseNot)
GNT_NOT_YET_NOR_A2(BitwiseOr)
GNT_NOT_YET_NOR_A2(BitwiseXor)
GNT_NOT_YET_NOR_A2(BroadCastVecToMM)
GNT_NOT_YET_NOR_A2(Clamp)
GNT_NOT_YET_NOR_A2(ClearSpr)
GNT_NOT_YET_NOR_A2(Conv2D)
GNT_NOT_YET_NOR_A2(DeInterleave)
GNT_NOT_YET_NOR_A2(Dequantize)
GNT_NOT_YET_NOR_A2(Divs)
GNT_NOT_YET_NOR_A2(ExpSub)
GNT_NOT_YET_NOR_A2(Fma)
GNT_NOT_YET_NOR_A2(Gemm)
GNT_NOT_YET_NOR_A2(GetRuntimeUBSize)
GNT_NOT_YET_NOR_A2(GetSpr)
GNT_NOT_YET_NOR_A2(GetSsbufBaseAddr)
GNT_NOT_YET_NOR_A2(GetUBSizeInBytes)
GNT_NOT_YET_NOR_A2(GetVecLen)
GNT_NOT_YET_NOR_A2(Hypot)
GNT_NOT_YET_NOR_A2(Interleave)
GNT_NOT_YET_NOR_A2(IsFinite)
GNT_NOT_YET_NOR_A2(IsInf)
GNT_NOT_YET_NOR_A2(IsNan)
GNT_NOT_YET_NOR_A2(LoadDataUnzip)
GNT_NOT_YET_NOR_A2(LoadDataWithStride)
GNT_NOT_YET_NOR_A2(LoadUnzipIndex)
GNT_NOT_YET_NOR_A2(LogicalAnd)
GNT_NOT_YET_NOR_A2(LogicalAnds)
GNT_NOT_YET_NOR_A2(LogicalNot)
GNT_NOT_YET_NOR_A2(LogicalOr)
GNT_NOT_YET_NOR_A2(LogicalOrs)
GNT_NOT_YET_NOR_A2(LogicalXor)
GNT_NOT_YET_NOR_A2(MarkStamp)
GNT_NOT_YET_NOR_A2(MmadMx)
GNT_NOT_YET_NOR_A2(MrgSort4)
GNT_NOT_YET_NOR_A2(Mull)
GNT_NOT_YET_NOR_A2(MulsCast)
GNT_NOT_YET_NOR_A2(NdDmaDci)
GNT_NOT_YET_NOR_A2(Neg)
GNT_NOT_YET_NOR_A2(Ors)
GNT_NOT_YET_NOR_A2(PhiloxRandom)
GNT_NOT_YET_NOR_A2(Prelu)
GNT_NOT_YET_NOR_A2(ProposalConcat)
GNT_NOT_YET_NOR_A2(ProposalExtract)
GNT_NOT_YET_NOR_A2(Quantize)
GNT_NOT_YET_NOR_A2(ReleaseMutexID)
GNT_NOT_YET_NOR_A2(ResetCtrlSpr)
GNT_NOT_YET_NOR_A2(ResetLoopModePara)
GNT_NOT_YET_NOR_A2(Rint)
GNT_NOT_YET_NOR_A2(RpSort16)
GNT_NOT_YET_NOR_A2(Scatter)
GNT_NOT_YET_NOR_A2(SetFixPipeAddr)
GNT_NOT_YET_NOR_A2(SetFixPipeClipRelu)
GNT_NOT_YET_NOR_A2(SetLoadDataRepeatWithStride)
GNT_NOT_YET_NOR_A2(SetLoopModePara)
GNT_NOT_YET_NOR_A2(SinCos)
GNT_NOT_YET_NOR_A2(Subs)
GNT_NOT_YET_NOR_A2(Truncate)
GNT_NOT_YET_NOR_A2(VectorPadding)
GNT_NOT_YET_NOR_A2(Where)

GNT_NOT_YET_TEMPLATE(TensorTrait, class... Gt)
GNT_NOT_YET_TEMPLATE(TBufPool, auto... Gv)
GNT_NOT_YET_TEMPLATE(TQueSync, auto... Gv)
GNT_NOT_YET_TEMPLATE(TSCM, auto... Gv)
GNT_NOT_YET_TYPE(KfcWorkspace)
GNT_NOT_YET_TEMPLATE(GroupBarrier, auto... Gv)
GNT_NOT_YET_TEMPLATE(CubeResGroupHandle, class... Gt)
GNT_NOT_YET_TYPE(Mutex)
GNT_NOT_YET_TEMPLATE(NumericLimits, class... Gt)
GNT_NOT_YET_TEMPLATE(Layout, class... Gt)
GNT_NOT_YET_TYPE(int4b_t)
GNT_NOT_YET_TYPE(complex32)
GNT_NOT_YET_TYPE(complex64)

}  // namespace AscendC

#undef GNT_ANY
#undef GNT_FOUR
#undef GNT_PARAMETERS
#undef GNT_REJECT
#undef GNT_NOT_YET
#undef GNT_NOT_YET_NOR_A2
#undef GNT_NOT_YET_TYPE
#undef GNT_NOT_YET_TEMPLATE
