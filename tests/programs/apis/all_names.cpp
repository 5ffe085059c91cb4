// Each name of apis.toml in the ways kernels write it: after its `// use:` mark. tests/test_twin_apis.py compiles this file and
// compares the marks with apis.toml; nothing here is run.
#include "kernel_operator.h"

using namespace AscendC;

struct Tiling {
  uint32_t n;
};
// use: REGISTER_TILING_DEFAULT
REGISTER_TILING_DEFAULT(Tiling);
// use: ASCENDC_TPL_ARGS_DECL
ASCENDC_TPL_ARGS_DECL(Op, ASCENDC_TPL_DTYPE_DECL(D, C_DT_FLOAT, C_DT_FLOAT16), ASCENDC_TPL_BOOL_DECL(B, 0, 1));

extern "C" __global__ __aicore__ void all_names(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<QuePosition::VECOUT, 1> out;
  TBuf<TPosition::VECCALC> spare;
  GlobalTensor<float> g;
  LocalTensor<float> f, f2, f3;
  LocalTensor<half> h, h2;
  LocalTensor<int16_t> i16;
  LocalTensor<uint16_t> u16;
  LocalTensor<int32_t> i32;
  LocalTensor<uint32_t> u32;
  LocalTensor<uint8_t> u8;
  uint64_t m[2] = {1, 0};
  const uint64_t c[2] = {1, 0};
  UnaryRepeatParams u;
  BinaryRepeatParams b{1, 1, 1, 8, 8, 8};
  DataCopyParams copy{1, 1, 0, 0};
  // use: TPipe::InitBuffer
  pipe.InitBuffer(in, 1, 256);
  pipe.InitBuffer(spare, 256);
  // use: TQue::AllocTensor
  LocalTensor<float> q = in.AllocTensor<float>();
  // use: TQue::EnQue
  in.EnQue(q);
  out.EnQue<float>(out.AllocTensor<float>());
  // use: TQue::DeQue
  q = in.DeQue<float>();
  LocalTensor<float> r = out.DeQue<float>();
  // use: TQue::FreeTensor
  in.FreeTensor(q);
  out.FreeTensor(r);
  // use: GetBlockIdx
  uint32_t index = GetBlockIdx() * 2;
  // use: GetBlockNum
  uint32_t blocks = AscendC::GetBlockNum() + index;
  // use: GlobalTensor::SetGlobalBuffer
  g.SetGlobalBuffer((__gm__ float*)x);
  g.SetGlobalBuffer((__gm__ float*)x, 64);
  // use: LocalTensor::operator[]
  f[8].GetSize();
  g[8].GetSize();
  // use: LocalTensor::GetValue
  f.GetValue(0);
  g.GetValue(0);
  // use: LocalTensor::SetValue
  f.SetValue(0, 1);
  g.SetValue(0, 1.0f);
  // use: LocalTensor::GetSize
  f.GetSize();
  g.GetSize();
  // use: LocalTensor::ReinterpretCast
  f.ReinterpretCast<int32_t>();
  // use: bfloat16_t
  LocalTensor<bfloat16_t> bf = f.ReinterpretCast<bfloat16_t>();
  Cast(bf, f2, RoundMode::CAST_RINT, 8);
  // use: TBuf::Get
  spare.Get<float>();
  spare.Get<half>(16);
  // use: TQueBind
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> both;
  pipe.InitBuffer(both, 1, 256);
  // use: GetTPipePtr
  GetTPipePtr()->Reset();
  AscendC::GetTPipePtr();
  // use: TPipe::FetchEventID
  SetFlag<HardEvent::V_S>(pipe.FetchEventID(HardEvent::V_S));
  pipe.FetchEventID<HardEvent::V_S>();
  // use: TPipe::AllocEventID
  TEventID id = pipe.AllocEventID<HardEvent::V_S>();
  // use: TPipe::ReleaseEventID
  pipe.ReleaseEventID<HardEvent::V_S>(id);
  // use: DataCopy
  DataCopy(f, g, 8);
  DataCopy(g, f, 8);
  DataCopy(f, f2, 8);
  DataCopy(f, g, {1, 1, 0, 0});
  DataCopy(g, f, copy);
  DataCopy(f, f2, copy);
  // use: DataCopyPad
  DataCopyPad(f, g, {1, 4, 0, 0, 0}, {false, 0, 0, 0});
  DataCopyPad(g, f, {1, 4, 0, 0, 0});
  DataCopyPad(f, g, copy, DataCopyPadParams{});
  DataCopyPad(g, f, copy);
  // use: Copy
  Copy(f, f2, 8ull, 1, {1, 1, 8, 8});
  Copy<half, false>(h, h2, c, 1, CopyRepeatParams{1, 1, 8, 8});
  // use: SetPadValue
  SetPadValue(1.0f);
  SetPadValue<half>(half(1.0f));
  // use: DataCacheCleanAndInvalid
  DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(g);
  DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(g[8]);
  // use: SetAtomicAdd
  SetAtomicAdd<float>();
  SetAtomicAdd<bfloat16_t>();
  // use: SetAtomicMax
  SetAtomicMax<half>();
  // use: SetAtomicMin
  SetAtomicMin<int8_t>();
  // use: SetAtomicType
  AscendC::SetAtomicType<int16_t>();
  // use: SetAtomicNone
  SetAtomicNone();
  // use: DisableDmaAtomic
  DisableDmaAtomic();
  // use: Add
  Add(f, f2, f2, 8);
  Add(f, f2, f2, 8ull, 1, {1, 1, 1, 8, 8, 8});
  Add<half, false>(h, h2, h2, m, 1, b);
  // use: Sub
  Sub(f, f2, f2, 8);
  Sub(f, f2, f2, 8ull, 1, {1, 1, 1, 8, 8, 8});
  Sub<half, false>(h, h2, h2, m, 1, b);
  // use: Mul
  Mul(f, f2, f2, 8);
  Mul(f, f2, f2, 8ull, 1, {1, 1, 1, 8, 8, 8});
  Mul<half, false>(h, h2, h2, m, 1, b);
  // use: Div
  Div(f, f2, f2, 8);
  Div(f, f2, f2, 8ull, 1, {1, 1, 1, 8, 8, 8});
  Div<half, false>(h, h2, h2, m, 1, b);
  // use: Max
  Max(f, f2, f2, 8);
  Max(f, f2, f2, 8ull, 1, {1, 1, 1, 8, 8, 8});
  Max<half, false>(h, h2, h2, m, 1, b);
  // use: Min
  Min(f, f2, f2, 8);
  Min(f, f2, f2, 8ull, 1, {1, 1, 1, 8, 8, 8});
  Min<half, false>(h, h2, h2, m, 1, b);
  // use: Adds
  Adds(f, f2, 1.0f, 8);
  Adds<float, false>(f, f2, 1.0f, 8);
  Adds(h, h2, half(1.0f), 8ull, 1, u);
  Adds(h, h2, half(1.0f), m, 1, u);
  // use: Muls
  Muls(f, f2, 1.0f, 8);
  Muls<float, false>(f, f2, 1.0f, 8);
  Muls(h, h2, half(1.0f), 8ull, 1, u);
  Muls(h, h2, half(1.0f), m, 1, u);
  // use: Maxs
  Maxs(f, f2, 1.0f, 8);
  Maxs<float, false>(f, f2, 1.0f, 8);
  Maxs(h, h2, half(1.0f), 8ull, 1, u);
  Maxs(h, h2, half(1.0f), m, 1, u);
  // use: Mins
  Mins(f, f2, 1.0f, 8);
  Mins<float, false>(f, f2, 1.0f, 8);
  Mins(h, h2, half(1.0f), 8ull, 1, u);
  Mins(h, h2, half(1.0f), m, 1, u);
  // use: Abs
  Abs(f, f2, 8);
  Abs(h, h2, 8);
  Abs(f, f2, 8ull, 1, {1, 1, 8, 8});
  Abs<half, false>(h, h2, m, 1, u);
  // use: Exp
  Exp(f, f2, 8);
  Exp(h, h2, 8);
  Exp(f, f2, 8ull, 1, {1, 1, 8, 8});
  Exp<half, false>(h, h2, m, 1, u);
  // use: Ln
  Ln(f, f2, 8);
  Ln(h, h2, 8);
  Ln(f, f2, 8ull, 1, {1, 1, 8, 8});
  Ln<half, false>(h, h2, m, 1, u);
  // use: Sqrt
  Sqrt(f, f2, 8);
  Sqrt(h, h2, 8);
  Sqrt(f, f2, 8ull, 1, {1, 1, 8, 8});
  Sqrt<half, false>(h, h2, m, 1, u);
  // use: Rsqrt
  Rsqrt(f, f2, 8);
  Rsqrt(h, h2, 8);
  Rsqrt(f, f2, 8ull, 1, {1, 1, 8, 8});
  Rsqrt<half, false>(h, h2, m, 1, u);
  // use: Reciprocal
  Reciprocal(f, f2, 8);
  Reciprocal(h, h2, 8);
  Reciprocal(f, f2, 8ull, 1, {1, 1, 8, 8});
  Reciprocal<half, false>(h, h2, m, 1, u);
  // use: Relu
  Relu(f, f2, 8);
  Relu(h, h2, 8);
  Relu(f, f2, 8ull, 1, {1, 1, 8, 8});
  Relu<half, false>(h, h2, m, 1, u);
  // use: LeakyRelu
  LeakyRelu(f, f2, 1.0f, 8);
  LeakyRelu<float, false>(f, f2, 1.0f, 8);
  LeakyRelu(h, h2, half(1.0f), 8ull, 1, u);
  LeakyRelu(h, h2, half(1.0f), m, 1, u);
  // use: Axpy
  Axpy(f, f2, 1.0f, 8);
  Axpy(f, h, half(1.0f), 8);
  Axpy<float, half, false>(f, h, half(1.0f), 8ull, 1, {1, 1, 8, 4});
  // use: MulAddDst
  MulAddDst(f, f2, f3, 8);
  MulAddDst<float, half>(f, h, h2, 8ull, 1, b);
  MulAddDst(f, f2, f3, c, 1, b);
  // use: FusedMulAdd
  FusedMulAdd(f, f2, f2, 8);
  FusedMulAdd(f, f2, f2, 8ull, 1, {1, 1, 1, 8, 8, 8});
  FusedMulAdd<half, false>(h, h2, h2, m, 1, b);
  // use: AddRelu
  AddRelu(f, f2, f2, 8);
  AddRelu(f, f2, f2, 8ull, 1, {1, 1, 1, 8, 8, 8});
  AddRelu<half, false>(h, h2, h2, m, 1, b);
  // use: SubRelu
  SubRelu(f, f2, f2, 8);
  SubRelu(f, f2, f2, 8ull, 1, {1, 1, 1, 8, 8, 8});
  SubRelu<half, false>(h, h2, h2, m, 1, b);
  // use: And
  And(u16, u16, u16, 8);
  And(i16, i16, i16, 8ull, 1, {1, 1, 1, 8, 8, 8});
  And<int16_t, false>(i16, i16, i16, m, 1, b);
  // use: Or
  Or(u16, u16, u16, 8);
  Or(i16, i16, i16, 8ull, 1, {1, 1, 1, 8, 8, 8});
  Or<int16_t, false>(i16, i16, i16, m, 1, b);
  // use: Not
  Not(i16, i16, 8);
  Not(u16, u16, 8ull, 1, u);
  Not<int16_t, false>(i16, i16, m, 1, u);
  // use: ShiftLeft
  ShiftLeft(i32, i32, 1, 8);
  ShiftLeft(i16, i16, static_cast<int16_t>(1), 8ull, 1, u);
  ShiftLeft(i16, i16, static_cast<int16_t>(1), m, 1, u);
  // use: ShiftRight
  ShiftRight(i32, i32, 1, 8);
  ShiftRight(i16, i16, static_cast<int16_t>(1), 8ull, 1, u);
  ShiftRight(i16, i16, static_cast<int16_t>(1), m, 1, u);
  // use: Sigmoid
  Sigmoid(f, f2);
  Sigmoid(f, f2, 8);
  Sigmoid(f, f2, u8);
  Sigmoid<float, false>(f, f2, u8, 8);
  // use: Cast
  Cast(h, f, RoundMode::CAST_NONE, 8);
  Cast<float, half>(f, h, RoundMode::CAST_NONE, 8ull, 1, {1, 1, 8, 4});
  Cast<half, float, false>(h, f, RoundMode::CAST_RINT, c, 1, u);
  Cast(1.0f);
  Cast<float, int32_t, RoundMode::CAST_RINT>(1.5f);
  // use: SetDeqScale
  SetDeqScale(half(1.0f));
  SetDeqScale((half)1.0);
  // use: Compare
  Compare(u8, f, f2, CMPMODE::LT, 64);
  Compare<half, int8_t>(u8.ReinterpretCast<int8_t>(), h, h2, CMPMODE::NE, 8ull, 1, b);
  Compare(u8, f, f2, CMPMODE::EQ, c, 1, b);
  // use: CompareScalar
  CompareScalar(u8, f, 1.0f, CMPMODE::LT, 64);
  CompareScalar<float, uint8_t>(u8, f, 1.0f, CMPMODE::LT, 8ull, 1, u);
  CompareScalar(u8, i32, 1, CMPMODE::EQ, c, 1, u);
  // use: Compares
  Compares(u8, f, 1.0f, CMPMODE::LT, 64);
  Compares<float, uint8_t>(u8, f, 1.0f, CMPMODE::LT, 8ull, 1, u);
  Compares(u8, i32, 1, CMPMODE::EQ, c, 1, u);
  // use: Select
  Select(f, u8, f2, f3, SELMODE::VSEL_TENSOR_TENSOR_MODE, 8);
  Select(f, u16, f2, 1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 8);
  Select<float, uint8_t>(f, u8, f2, f3, SELMODE::VSEL_CMPMASK_SPR, 8ull, 1, b);
  Select(f, u8, f2, 1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, m, 1, b);
  // use: Duplicate
  Duplicate(f, 1.0f, 8);
  Duplicate<half>(h, 1.0f, 8);
  Duplicate(f, 1.0f, 8ull, 1, 1, 8);
  Duplicate(f, 1.0f, m, 1, 1, 8);
  // use: CreateVecIndex
  CreateVecIndex(f, 0.0f, 8);
  CreateVecIndex<int32_t>(i32, 0, 8);
  CreateVecIndex(f, 0.0f, 8ull, 1, 1, 8);
  CreateVecIndex(i32, 1, m, 1, 1, 8);
  // use: Brcb
  Brcb(f, f2, 1, {1, 8});
  Brcb(h, h2, 1, BrcbRepeatParams{1, 8});
  // use: Gather
  Gather(f, f2, u32, 0, 8);
  Gather(f, f2, u32, 0, 8ull, 1, 8);
  Gather(h, h2, u32, 0, c, 1, 8);
  // use: ReduceSum
  ReduceSum(f, f2, f3, 8);
  ReduceSum<float>(f, f2, f3, 8, 1, 8);
  ReduceSum<half, true>(h, h2, h2, c, 1, 8);
  // use: ReduceMax
  ReduceMax(f, f2, f3, 8);
  ReduceMax(f, f2, f3, 8, true);
  ReduceMax<half>(h, h2, h2, 8, 1, 8, true);
  ReduceMax(f, f2, f3, c, 1, 8);
  // use: ReduceMin
  ReduceMin(f, f2, f3, 8);
  ReduceMin(f, f2, f3, 8, true);
  ReduceMin<half>(h, h2, h2, 8, 1, 8, true);
  ReduceMin(f, f2, f3, c, 1, 8);
  // use: WholeReduceSum
  WholeReduceSum(f, f2, 8, 1, 1, 1, 8);
  WholeReduceSum<half, false>(h, h2, 8, 1, 1, 1, 8);
  WholeReduceSum(f, f2, c, 1, 1, 1, 8);
  // use: WholeReduceMax
  WholeReduceMax(f, f2, 8, 1, 1, 1, 8);
  WholeReduceMax<half, false>(h, h2, 8, 1, 1, 1, 8);
  WholeReduceMax(f, f2, c, 1, 1, 1, 8);
  // use: WholeReduceMin
  WholeReduceMin(f, f2, 8, 1, 1, 1, 8);
  WholeReduceMin<half, false>(h, h2, 8, 1, 1, 1, 8);
  WholeReduceMin(f, f2, c, 1, 1, 1, 8);
  // use: BlockReduceSum
  BlockReduceSum(f, f2, 1, 8, 1, 1, 8);
  BlockReduceSum<half, false>(h, h2, 1, 8, 1, 1, 8);
  BlockReduceSum(f, f2, 1, c, 1, 1, 8);
  // use: BlockReduceMax
  BlockReduceMax(f, f2, 1, 8, 1, 1, 8);
  BlockReduceMax<half, false>(h, h2, 1, 8, 1, 1, 8);
  BlockReduceMax(f, f2, 1, c, 1, 1, 8);
  // use: BlockReduceMin
  BlockReduceMin(f, f2, 1, 8, 1, 1, 8);
  BlockReduceMin<half, false>(h, h2, 1, 8, 1, 1, 8);
  BlockReduceMin(f, f2, 1, c, 1, 1, 8);
  // use: PairReduceSum
  PairReduceSum(f, f2, 1, 8, 1, 1, 8);
  PairReduceSum<half, false>(h, h2, 1, 8, 1, 1, 8);
  PairReduceSum(f, f2, 1, c, 1, 1, 8);
  // use: RepeatReduceSum
  RepeatReduceSum(f, f2, 1, 8, 1, 1, 8, 8);
  // use: SetVectorMask
  SetVectorMask<half, MaskMode::NORMAL>(0, 255);
  SetVectorMask<float, MaskMode::COUNTER>(0, 8);
  SetVectorMask<float>(8);
  // use: SetMaskCount
  SetMaskCount();
  // use: SetMaskNorm
  SetMaskNorm();
  // use: ResetMask
  AscendC::ResetMask();
  // use: PipeBarrier
  PipeBarrier<PIPE_V>();
  PipeBarrier<PIPE_MTE2>();
  PipeBarrier<PIPE_MTE3>();
  PipeBarrier<PIPE_ALL>();
  // use: SetFlag
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  SetFlag<HardEvent::V_MTE3>(1);
  // use: WaitFlag
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(1);
  // use: SyncAll
  SyncAll();
  SyncAll<true>();
  // use: GetSubBlockIdx
  GetSubBlockIdx();
  // use: GetSubBlockNum
  GetSubBlockNum();
  // use: GetTaskRatio
  GetTaskRatio();
  // use: GetTaskRation
  GetTaskRation();
  // use: InitSocState
  AscendC::InitSocState();
  // use: ASCEND_IS_AIV
  if ASCEND_IS_AIV {
    PipeBarrier<PIPE_V>();
  }
  // use: ASCEND_IS_AIC
  if ASCEND_IS_AIC {
    return;
  }
  // use: GetUserWorkspace
  GM_ADDR user = GetUserWorkspace(workspace);
  g.SetGlobalBuffer((__gm__ float*)user);
  // use: GetSysWorkSpacePtr
  GM_ADDR system = GetSysWorkSpacePtr();
  g.SetGlobalBuffer((__gm__ float*)system);
  // use: SetSysWorkspace
  SetSysWorkspace(workspace);
  // use: GET_TILING_DATA
  GET_TILING_DATA(td, tiling);
  index += td.n;
  // use: GET_TILING_DATA_WITH_STRUCT
  GET_TILING_DATA_WITH_STRUCT(Tiling, other, tiling);
  blocks += other.n + index;
  // use: TILING_KEY_IS
  if (TILING_KEY_IS(1)) {
    index = 0;
  } else if (TILING_KEY_IS(10000000000000000001UL)) {
    index = 1;
  }
  // use: KERNEL_TASK_TYPE_DEFAULT
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  // use: printf
  printf("%d %f %u\n", index, 1.0f, blocks);
  AscendC::printf("text");
  // use: PRINTF
  PRINTF("%f\n", half(1.0f));
  // use: DumpTensor
  DumpTensor(f, 1, 8);
  DumpTensor(g, 2, 8);
  // use: ascendc_assert
  ascendc_assert(index < 5);
  ascendc_assert(index < 5, "index is %d", index);
  // use: ASSERT
  ASSERT(index < 5);
  ASSERT((index < 5) && "text")
  // use: ToFloat
  float wide = ToFloat(ToBfloat16(1.0f));
  // use: ToBfloat16
  bfloat16_t narrow = AscendC::ToBfloat16(wide);
  wide = ToFloat(narrow);
  // use: ScalarCast
  index += ScalarCast<float, int32_t, RoundMode::CAST_ROUND>(wide);
}
