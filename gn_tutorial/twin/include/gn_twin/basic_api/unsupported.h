// Names of the Ascend C SIMD API that the twin lacks. A kernel that uses such a name gets a compile error at its own
// line, "not on the twin yet: <name>", instead of "not declared in this scope". `./gnt lint apis --fix` makes the list,
// between the two marks, from gn_tutorial/twin/apis.toml.
#pragma once

namespace gn_twin {

// The type of every parameter and result here. It accepts any argument, braced lists too, and stands for any result. A
// learner's own function of the same name wins, because calls reach this type by a user-defined conversion only.
struct Unsupported {
  Unsupported();
  template <class A>
  Unsupported(const A&);
  template <class A, class B, class... C>
  Unsupported(const A&, const B&, const C&...);
  template <class T>
  operator T() const;
};

}  // namespace gn_twin

// Calls with explicit template arguments must give this message too. So there is a template for each kind of argument
// list: types; values; a type or two, then values; a value, then types. 16 function parameters are enough: the longest
// documented list has 14.
#define GNT_ANY gn_twin::Unsupported = {}
#define GNT_FOUR GNT_ANY, GNT_ANY, GNT_ANY, GNT_ANY
#define GNT_PARAMETERS GNT_FOUR, GNT_FOUR, GNT_FOUR, GNT_FOUR
#define GNT_REJECT(NAME, MESSAGE)                                                  \
  template <class... Gt>                                                           \
  __attribute__((unavailable(MESSAGE))) gn_twin::Unsupported NAME(GNT_PARAMETERS); \
  template <auto Gv, auto... Gw>                                                   \
  __attribute__((unavailable(MESSAGE))) gn_twin::Unsupported NAME(GNT_PARAMETERS); \
  template <class Gt, auto Gv, auto... Gw>                                         \
  __attribute__((unavailable(MESSAGE))) gn_twin::Unsupported NAME(GNT_PARAMETERS); \
  template <class Gt, class Gu, auto Gv, auto... Gw>                               \
  __attribute__((unavailable(MESSAGE))) gn_twin::Unsupported NAME(GNT_PARAMETERS); \
  template <auto Gv, class Gt, class... Gu>                                        \
  __attribute__((unavailable(MESSAGE))) gn_twin::Unsupported NAME(GNT_PARAMETERS);
#define GNT_UNSUPPORTED(NAME) GNT_REJECT(NAME, "not on the twin yet: " #NAME)
// For names that are documented, but only for other products than Atlas A2 (dav-2201), which the twin imitates.
#define GNT_UNSUPPORTED_NOR_A2(NAME) GNT_REJECT(NAME, "not on the twin yet: " #NAME " (nor on Atlas A2)")
#define GNT_UNSUPPORTED_TYPE(NAME) \
  struct __attribute__((unavailable("not on the twin yet: " #NAME))) NAME {};
#define GNT_UNSUPPORTED_TEMPLATE(NAME, PARAMETERS) \
  template <PARAMETERS>                            \
  struct __attribute__((unavailable("not on the twin yet: " #NAME))) NAME {};

namespace AscendC {

// --- made from apis.toml ---
GNT_UNSUPPORTED(AddDeqRelu)
GNT_UNSUPPORTED(Async)
GNT_UNSUPPORTED(BatchNorm)
GNT_UNSUPPORTED(BilinearInterpolation)
GNT_UNSUPPORTED(CastDeq)
GNT_UNSUPPORTED(CastDequant)
GNT_UNSUPPORTED(CheckLocalMemoryIA)
GNT_UNSUPPORTED(ConfusionTranspose)
GNT_UNSUPPORTED(Crd2Idx)
GNT_UNSUPPORTED(CreateCubeResGroup)
GNT_UNSUPPORTED(DataCopyL1ToUB)
GNT_UNSUPPORTED(Digamma)
GNT_UNSUPPORTED(DumpAccChkPoint)
GNT_UNSUPPORTED(FasterGeluV2)
GNT_UNSUPPORTED(Fixpipe)
GNT_UNSUPPORTED(GetArchVersion)
GNT_UNSUPPORTED(GetHcclContext)
GNT_UNSUPPORTED(GetICachePreloadStatus)
GNT_UNSUPPORTED(GetProgramCounter)
GNT_UNSUPPORTED(GetSaturationStrategy)
GNT_UNSUPPORTED(GetStoreAtomicConfig)
GNT_UNSUPPORTED(GetUintDivMagicAndShift)
GNT_UNSUPPORTED(GroupNorm)
GNT_UNSUPPORTED(ICachePreLoad)
GNT_UNSUPPORTED(Lgamma)
GNT_UNSUPPORTED(LoadData)
GNT_UNSUPPORTED(LoadDataWithSparse)
GNT_UNSUPPORTED(LoadDataWithTranspose)
GNT_UNSUPPORTED(LoadImageToLocal)
GNT_UNSUPPORTED(MakeCoord)
GNT_UNSUPPORTED(MakeLayout)
GNT_UNSUPPORTED(MakeShape)
GNT_UNSUPPORTED(MakeStride)
GNT_UNSUPPORTED(MakeTensorTrait)
GNT_UNSUPPORTED(MetricsProfStart)
GNT_UNSUPPORTED(MetricsProfStop)
GNT_UNSUPPORTED(Mmad)
GNT_UNSUPPORTED(MmadWithSparse)
GNT_UNSUPPORTED(MulAddRelu)
GNT_UNSUPPORTED(MulCast)
GNT_UNSUPPORTED(Nop)
GNT_UNSUPPORTED(PrintTimeStamp)
GNT_UNSUPPORTED(ReduceAll)
GNT_UNSUPPORTED(ReduceAny)
GNT_UNSUPPORTED(ReduceXorSum)
GNT_UNSUPPORTED(SetAippFunctions)
GNT_UNSUPPORTED(SetFixPipeConfig)
GNT_UNSUPPORTED(SetFixpipeNz2ndFlag)
GNT_UNSUPPORTED(SetFixpipePreQuantFlag)
GNT_UNSUPPORTED(SetFmatrix)
GNT_UNSUPPORTED(SetHF32Mode)
GNT_UNSUPPORTED(SetHF32TransMode)
GNT_UNSUPPORTED(SetHcclContext)
GNT_UNSUPPORTED(SetLoadDataBoundary)
GNT_UNSUPPORTED(SetLoadDataPaddingValue)
GNT_UNSUPPORTED(SetLoadDataRepeat)
GNT_UNSUPPORTED(SetMMColumnMajor)
GNT_UNSUPPORTED(SetMMRowMajor)
GNT_UNSUPPORTED(SetSaturationStrategy)
GNT_UNSUPPORTED(SetStoreAtomicConfig)
GNT_UNSUPPORTED(TransData)
GNT_UNSUPPORTED_NOR_A2(AbsSub)
GNT_UNSUPPORTED_NOR_A2(AllocMutexID)
GNT_UNSUPPORTED_NOR_A2(Ands)
GNT_UNSUPPORTED_NOR_A2(AntiQuantize)
GNT_UNSUPPORTED_NOR_A2(AtomicAdd)
GNT_UNSUPPORTED_NOR_A2(AtomicCas)
GNT_UNSUPPORTED_NOR_A2(AtomicExch)
GNT_UNSUPPORTED_NOR_A2(AtomicMax)
GNT_UNSUPPORTED_NOR_A2(AtomicMin)
GNT_UNSUPPORTED_NOR_A2(BitwiseAnd)
GNT_UNSUPPORTED_NOR_A2(BitwiseNot)
GNT_UNSUPPORTED_NOR_A2(BitwiseOr)
GNT_UNSUPPORTED_NOR_A2(BitwiseXor)
GNT_UNSUPPORTED_NOR_A2(BroadCastVecToMM)
GNT_UNSUPPORTED_NOR_A2(Clamp)
GNT_UNSUPPORTED_NOR_A2(ClearSpr)
GNT_UNSUPPORTED_NOR_A2(Conv2D)
GNT_UNSUPPORTED_NOR_A2(DeInterleave)
GNT_UNSUPPORTED_NOR_A2(Dequantize)
GNT_UNSUPPORTED_NOR_A2(Divs)
GNT_UNSUPPORTED_NOR_A2(ExpSub)
GNT_UNSUPPORTED_NOR_A2(Fma)
GNT_UNSUPPORTED_NOR_A2(Gemm)
GNT_UNSUPPORTED_NOR_A2(GetRuntimeUBSize)
GNT_UNSUPPORTED_NOR_A2(GetSpr)
GNT_UNSUPPORTED_NOR_A2(GetSsbufBaseAddr)
GNT_UNSUPPORTED_NOR_A2(GetUBSizeInBytes)
GNT_UNSUPPORTED_NOR_A2(GetVecLen)
GNT_UNSUPPORTED_NOR_A2(Hypot)
GNT_UNSUPPORTED_NOR_A2(Interleave)
GNT_UNSUPPORTED_NOR_A2(IsFinite)
GNT_UNSUPPORTED_NOR_A2(IsInf)
GNT_UNSUPPORTED_NOR_A2(IsNan)
GNT_UNSUPPORTED_NOR_A2(LoadDataUnzip)
GNT_UNSUPPORTED_NOR_A2(LoadDataWithStride)
GNT_UNSUPPORTED_NOR_A2(LoadUnzipIndex)
GNT_UNSUPPORTED_NOR_A2(LogicalAnd)
GNT_UNSUPPORTED_NOR_A2(LogicalAnds)
GNT_UNSUPPORTED_NOR_A2(LogicalNot)
GNT_UNSUPPORTED_NOR_A2(LogicalOr)
GNT_UNSUPPORTED_NOR_A2(LogicalOrs)
GNT_UNSUPPORTED_NOR_A2(LogicalXor)
GNT_UNSUPPORTED_NOR_A2(MarkStamp)
GNT_UNSUPPORTED_NOR_A2(MmadMx)
GNT_UNSUPPORTED_NOR_A2(MrgSort4)
GNT_UNSUPPORTED_NOR_A2(Mull)
GNT_UNSUPPORTED_NOR_A2(MulsCast)
GNT_UNSUPPORTED_NOR_A2(NdDmaDci)
GNT_UNSUPPORTED_NOR_A2(Neg)
GNT_UNSUPPORTED_NOR_A2(Ors)
GNT_UNSUPPORTED_NOR_A2(PhiloxRandom)
GNT_UNSUPPORTED_NOR_A2(Prelu)
GNT_UNSUPPORTED_NOR_A2(ProposalConcat)
GNT_UNSUPPORTED_NOR_A2(ProposalExtract)
GNT_UNSUPPORTED_NOR_A2(Quantize)
GNT_UNSUPPORTED_NOR_A2(ReleaseMutexID)
GNT_UNSUPPORTED_NOR_A2(ResetCtrlSpr)
GNT_UNSUPPORTED_NOR_A2(ResetLoopModePara)
GNT_UNSUPPORTED_NOR_A2(Rint)
GNT_UNSUPPORTED_NOR_A2(RpSort16)
GNT_UNSUPPORTED_NOR_A2(Scatter)
GNT_UNSUPPORTED_NOR_A2(SetFixPipeAddr)
GNT_UNSUPPORTED_NOR_A2(SetFixPipeClipRelu)
GNT_UNSUPPORTED_NOR_A2(SetLoadDataRepeatWithStride)
GNT_UNSUPPORTED_NOR_A2(SetLoopModePara)
GNT_UNSUPPORTED_NOR_A2(SinCos)
GNT_UNSUPPORTED_NOR_A2(Subs)
GNT_UNSUPPORTED_NOR_A2(Truncate)
GNT_UNSUPPORTED_NOR_A2(VectorPadding)
GNT_UNSUPPORTED_NOR_A2(Where)
GNT_UNSUPPORTED_TEMPLATE(TensorTrait, class... Gt)
GNT_UNSUPPORTED_TEMPLATE(TBufPool, auto... Gv)
GNT_UNSUPPORTED_TEMPLATE(TQueSync, auto... Gv)
GNT_UNSUPPORTED_TEMPLATE(TSCM, auto... Gv)
GNT_UNSUPPORTED_TYPE(KfcWorkspace)
GNT_UNSUPPORTED_TEMPLATE(GroupBarrier, auto... Gv)
GNT_UNSUPPORTED_TEMPLATE(CubeResGroupHandle, class... Gt)
GNT_UNSUPPORTED_TYPE(Mutex)
GNT_UNSUPPORTED_TEMPLATE(NumericLimits, class... Gt)
GNT_UNSUPPORTED_TEMPLATE(Layout, class... Gt)
GNT_UNSUPPORTED_TYPE(complex32)
GNT_UNSUPPORTED_TYPE(complex64)
// --- end ---

}  // namespace AscendC

#undef GNT_ANY
#undef GNT_FOUR
#undef GNT_PARAMETERS
#undef GNT_REJECT
#undef GNT_UNSUPPORTED
#undef GNT_UNSUPPORTED_NOR_A2
#undef GNT_UNSUPPORTED_TYPE
#undef GNT_UNSUPPORTED_TEMPLATE
