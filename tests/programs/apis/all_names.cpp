// Each name of apis.toml in the ways kernels write it: after its `// use:` mark. tests/twin/test_every_name.py compiles this file and
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
  // use: AddReluCast
  AddReluCast(h, f, f2, 8);
  AddReluCast(h, f, f2, 8ull, 1, {1, 1, 1, 4, 8, 8});
  AddReluCast<half, float, false>(h, f, f2, m, 1, b);
  // use: SubReluCast
  SubReluCast(h, f, f2, 8);
  SubReluCast(h, f, f2, 8ull, 1, {1, 1, 1, 4, 8, 8});
  SubReluCast<half, float, false>(h, f, f2, m, 1, b);
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
  Select(f, LocalTensor<int8_t>(), f2, 1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 8);
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
  // use: LocalTensor
  LocalTensor<float> placed(TPosition::VECCALC, 256, 64);
  // use: LocalMemAllocator
  LocalMemAllocator<Hardware::UB> memory;
  f = memory.Alloc<float, 8>();
  f = memory.Alloc<float>(index);
  f = memory.Alloc<TPosition::VECIN, float, 8>();
  f = memory.Alloc<TPosition::VECIN, float>(8);
  index += memory.GetCurAddr();
  // use: PopStackBuffer
  PopStackBuffer<float, TPosition::LCM>(f);
  // use: LocalTensor::GetPhyAddr
  __ubuf__ float* address = (__ubuf__ float*)f.GetPhyAddr();
  address = f[8].GetPhyAddr(8);
  // use: LocalTensor::SetSize
  f.SetSize(8);
  // use: TBuf::GetWithOffset
  f = spare.GetWithOffset<float>(8, 32);
  // use: TPipe::Reset
  pipe.Reset();
  // use: TPipe::Destroy
  pipe.Destroy();
  // use: set_flag
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  // use: wait_flag
  wait_flag(PIPE_MTE2, PIPE_V, static_cast<event_t>(0));
  // use: pipe_barrier
  pipe_barrier(PIPE_V);
  pipe_barrier(PIPE_ALL);
  // use: dcci
  dcci(x, SINGLE_CACHE_LINE);
  dcci((__gm__ void*)x, cache_line_t::ENTIRE_DATA_CACHE, dcci_dst_t::CACHELINE_OUT);
  // use: DataCachePreload
  GlobalTensor<uint64_t> line;
  DataCachePreload(line, 0);
  // use: GatherMask
  uint64_t kept;
  GatherMask(f, f2, 1, false, 0, {1, 1, 8, 0}, kept);
  GatherMask(f, f2, u32, true, 70, GatherMaskParams{1, 2, 8, 0}, kept);
  GatherMask<half>(h, h2, u16, true, 8, {1, 1, 8, 0}, kept);
  // use: SetCmpMask
  SetCmpMask(u8);
  Select<float, SELMODE::VSEL_CMPMASK_SPR>(f, f2, f3, 1, b);
  Select(f, u8, f2, 1, b);
  // use: GetCmpMask
  Compare(f, f2, CMPMODE::LT, 64ull, b);
  Compare<half>(h, h2, CMPMODE::LT, c, b);
  GetCmpMask(u8);
  // use: Transpose
  Transpose(h, h2);
  Transpose(f, f2, u8, TransposeParamsExt(1, 2, 4, 8, TransposeType::TRANSPOSE_NCHW2NHWC));
  Transpose<uint16_t>(u16, u16);
  // use: TransDataTo5HD
  uint64_t list[16];
  LocalTensor<half> tiles[16];
  TransDataTo5HD<half>(tiles, tiles, {false, false, 1, 0, 0});
  TransDataTo5HD<float>(list, list, {});
  LocalTensor<uint64_t> lists;
  TransDataTo5HD<int8_t>(lists, lists, TransDataTo5HDParams{});
  // use: GetAccVal
  wide = GetAccVal<float>();
  // use: GetReduceRepeatSumSpr
  wide = GetReduceRepeatSumSpr<float>();
  // use: GetReduceRepeatMaxMinSpr
  GetReduceRepeatMaxMinSpr<float>(wide, wide);
  GetReduceRepeatMaxMinSpr<float>(wide);
  // use: GetReduceMaxMinCount
  GetReduceMaxMinCount<float>(wide, wide);
  // use: Sin
  Sin(f, f2);
  Sin(f, f2, 8);
  Sin(f, f2, u8);
  Sin<half, false>(h, h2, u8, 8);
  // use: Cos
  Cos(f, f2);
  Cos(f, f2, 8);
  Cos(f, f2, u8);
  Cos<half, false>(h, h2, u8, 8);
  // use: Tan
  Tan(f, f2);
  Tan(f, f2, 8);
  Tan(f, f2, u8);
  Tan<half, false>(h, h2, u8, 8);
  // use: Asin
  Asin(f, f2);
  Asin(f, f2, 8);
  Asin(f, f2, u8);
  Asin<half, false>(h, h2, u8, 8);
  // use: Acos
  Acos(f, f2);
  Acos(f, f2, 8);
  Acos(f, f2, u8);
  Acos<half, false>(h, h2, u8, 8);
  // use: Atan
  Atan(f, f2);
  Atan(f, f2, 8);
  Atan(f, f2, u8);
  Atan<half, false>(h, h2, u8, 8);
  // use: Sinh
  Sinh(f, f2);
  Sinh(f, f2, 8);
  Sinh(f, f2, u8);
  Sinh<half, false>(h, h2, u8, 8);
  // use: Cosh
  Cosh(f, f2);
  Cosh(f, f2, 8);
  Cosh(f, f2, u8);
  Cosh<half, false>(h, h2, u8, 8);
  // use: Tanh
  Tanh(f, f2);
  Tanh(f, f2, 8);
  Tanh(f, f2, u8);
  Tanh<half, false>(h, h2, u8, 8);
  // use: Asinh
  Asinh(f, f2);
  Asinh(f, f2, 8);
  Asinh(f, f2, u8);
  Asinh<half, false>(h, h2, u8, 8);
  // use: Acosh
  Acosh(f, f2);
  Acosh(f, f2, 8);
  Acosh(f, f2, u8);
  Acosh<half, false>(h, h2, u8, 8);
  // use: Atanh
  Atanh(f, f2);
  Atanh(f, f2, 8);
  Atanh(f, f2, u8);
  Atanh<half, false>(h, h2, u8, 8);
  // use: Erf
  Erf(f, f2);
  Erf(f, f2, 8);
  Erf(f, f2, u8);
  Erf<half, false>(h, h2, u8, 8);
  // use: Erfc
  Erfc(f, f2);
  Erfc(f, f2, 8);
  Erfc(f, f2, u8);
  Erfc<half, false>(h, h2, u8, 8);
  // use: Floor
  Floor(f, f2);
  Floor(f, f2, 8);
  Floor(f, f2, u8);
  Floor<half, false>(h, h2, u8, 8);
  // use: Ceil
  Ceil(f, f2);
  Ceil(f, f2, 8);
  Ceil(f, f2, u8);
  Ceil<half, false>(h, h2, u8, 8);
  // use: Trunc
  Trunc(f, f2);
  Trunc(f, f2, 8);
  Trunc(f, f2, u8);
  Trunc<half, false>(h, h2, u8, 8);
  // use: Frac
  Frac(f, f2);
  Frac(f, f2, 8);
  Frac(f, f2, u8);
  Frac<half, false>(h, h2, u8, 8);
  // use: Sign
  Sign(f, f2);
  Sign(f, f2, 8);
  Sign(f, f2, u8);
  Sign<half, false>(h, h2, u8, 8);
  // use: Log2
  Log2(f, f2);
  Log2(f, f2, 8);
  Log2(f, f2, u8);
  Log2<half, false>(h, h2, u8, 8);
  // use: Log10
  Log10(f, f2);
  Log10(f, f2, 8);
  Log10(f, f2, u8);
  Log10<half, false>(h, h2, u8, 8);
  // use: Log
  Log(f, f2);
  Log<half, false>(h, h2, 8);
  // use: Round
  Round(f, f2, 8);
  Round<half>(h, h2, u8, 8);
  // use: Power
  Power(f, f2, f3);
  Power(f, f2, 2.0f, 8);
  Power<float, false>(f, 2.0f, f3, u8, 8);
  Power(i32, i32, 2);
  // use: Silu
  Silu(f, f2, 8);
  Silu<half, false>(h, h2, 8);
  // use: Swish
  Swish(f, f2, 8, 1.702f);
  // use: Gelu
  Gelu(f, f2, 8);
  Gelu<half, false, false>(h, h2, u8, 8);
  // use: FasterGelu
  FasterGelu(f, f2, 8);
  // use: Broadcast
  uint32_t to[2] = {4, 8}, from[2] = {4, 1};
  Broadcast<float, 2, 1>(f, f2, to, from);
  Broadcast<half, 1, 0, false>(h, h2, to, from, u8);
  // use: BroadCast
  BroadCast<float, 2, 1>(f, f2, to, from);
  // use: Sum
  Sum(f, f2, SumParams{1, 8, 8});
  Sum<float, -1, false, false>(f, f2, u8, {1, 8, 8});
  // use: Fill
  Fill(g, 8, 1.0f);
  // use: InitGlobalMemory
  InitGlobalMemory(g, 8, 0.0f);
  // use: InitOutput
  InitOutput<float>(g, 8, 0);
  InitOutput(g[8], 8, 0.0f);
  // use: ReduceRepeat
  ReduceRepeat<ReduceType::SUM>(f, f2, 64, 1, 1, 1, 8);
  ReduceRepeat<ReduceType::SUM, half, half, false>(h, h2, c, 1, 1, 1, 8);
  ReduceRepeat<ReduceType::MAX, half>(h, h2, 128, 1, 1, 1, 8, ReduceOrder::ORDER_ONLY_INDEX);
  // use: ReduceDataBlock
  ReduceDataBlock<ReduceType::SUM>(f, f2, 64, 1, 1, 1, 8);
  ReduceDataBlock<ReduceType::SUM, half, half, false>(h, h2, c, 1, 1, 1, 8);
  // use: ReducePairElem
  ReducePairElem<ReduceType::SUM>(f, f2, 64, 1, 1, 1, 8);
  ReducePairElem<ReduceType::SUM, half, half, false>(h, h2, c, 1, 1, 1, 8);
  // use: GetSFFValue
  index += GetSFFValue<1>(8);
  // use: ScalarGetSFFValue
  index += ScalarGetSFFValue<0>(8);
  // use: GetBitCount
  index += GetBitCount<1>(8);
  // use: ScalarGetCountOfValue
  index += ScalarGetCountOfValue<1>(8);
  // use: CountLeadingZero
  index += CountLeadingZero(8);
  // use: ScalarCountLeadingZero
  index += ScalarCountLeadingZero(8);
  // use: CountBitsCntSameAsSignBit
  index += CountBitsCntSameAsSignBit(8);
  // use: CeilDivision
  index += CeilDivision(9, 8);
  // use: CrossCoreSetFlag
  CrossCoreSetFlag<0x0, PIPE_MTE3>(3);
  // use: CrossCoreWaitFlag
  CrossCoreWaitFlag(3);
  CrossCoreWaitFlag<0, PIPE_S>(3);
  // use: assert
  assert(index < 5);
  assert(index < 5, "index is %d", index);
  // use: ASCENDC_ASSERT
  ASCENDC_ASSERT((index < 5), { PRINTF("text"); });
  // use: Gatherb
  Gatherb(u32, u32, u32, 1, {1, 8});
  Gatherb(u16, u16, u32, 1, GatherRepeatParams{1, 8});
  SoftMaxTiling softmax_tiling;
  SoftMaxShapeInfo softmax_shape{8, 8, 8, 8};
  const uint32_t matrix_shape[2] = {8, 8};
  LocalTensor<int8_t> i8;
  // use: SoftMax
  SoftMax<float>(f, f2, f3, f, u8, softmax_tiling, softmax_shape);
  SoftMax<half>(h, f2, f3, h, softmax_tiling);
  SoftMax<float>(f, f2, softmax_tiling);
  // use: SimpleSoftMax
  SimpleSoftMax<float>(f, f2, f3, f, softmax_tiling, softmax_shape);
  // use: LogSoftMax
  LogSoftMaxTiling log_tiling;
  LogSoftMax<float>(f, f2, f3, f, u8, log_tiling, softmax_shape);
  // use: SoftmaxFlash
  SoftmaxFlash<float>(f, f2, f3, f, f, f2, f3, softmax_tiling, true, softmax_shape);
  // use: SoftmaxFlashV2
  SoftmaxFlashV2<float, true>(f, f2, f3, f, f, f2, f3, u8, softmax_tiling, softmax_shape);
  // use: SoftmaxFlashV3
  SoftmaxFlashV3<half, float, true>(h, f, f2, f3, h, h, f, f2, f3, softmax_tiling, SoftMaxParams{});
  // use: SoftmaxGrad
  SoftmaxGrad<float>(f, f2, f3, u8, softmax_tiling, false, softmax_shape);
  // use: SoftmaxGradFront
  SoftmaxGradFront<float>(f, f2, f3, softmax_tiling, softmax_shape);
  // use: AdjustSoftMaxRes
  AdjustSoftMaxRes<float, float>(f, f2, 0xff7fffff, 0.0f, softmax_shape);
  // use: LayerNorm
  LayerNormTiling layer_tiling;
  LayerNorm<float>(f, f2, f3, f, f, f, u8, 1e-5f, layer_tiling);
  LayerNorm<float, float>(f, f2, f3, f, f, f, 1e-5f, u8, LayerNormPara{1, 8, 8}, LayerNormSeparateTiling{});
  // use: Normalize
  Normalize<float, float>(f, f2, f3, f3, f, f, f, u8, 1e-5f, NormalizePara{1, 8, 8});
  // use: DeepNorm
  DeepNormTiling deep_tiling;
  DeepNorm<float>(f, f2, f3, f, f, f, f, u8, 2.0f, 1e-5f, deep_tiling);
  // use: RmsNorm
  RmsNorm<float>(f, f2, f3, u8, 1e-5f, RmsNormTiling{});
  // use: LayerNormGrad
  LayerNormGradTiling grad_tiling;
  LayerNormGrad<float>(f, f2, f3, f, f, f, f, u8, 1e-5f, grad_tiling);
  // use: LayerNormGradBeta
  LayerNormGradBeta<float>(f, f2, f3, f, u8, LayerNormGradBetaTiling{});
  // use: WelfordUpdate
  WelfordUpdate<half, float>(f, f2, f, f2, h, u8, WelfordUpdateParam{1, 16, 16, 1.0f});
  // use: WelfordFinalize
  WelfordFinalizePara welford{1, 8, 1, 8, 0, 0, 0.125f, 0.125f};
  WelfordFinalize<false>(f, f2, f, f2, i32, u8, welford);
  // use: AscendQuant
  AscendQuant<half>(i8, h, 2.0f, 0.5f, 32);
  AscendQuant(i8, h, u8, h, h);
  // use: AscendDequant
  AscendDequant(f, i32, f2, u8, {1, 8, 8});
  // use: AscendAntiQuant
  AscendAntiQuant<int8_t, half, false>(h, i8, h, h, u8, 8);
  // use: Sort32
  Sort32(f, f2, u32, 1);
  // use: MrgSort
  uint16_t lengths[4] = {32, 32, 0, 0};
  uint32_t merged[4];
  MrgSort(f, MrgSortSrcList<float>(f2, f3, f3, f3), MrgSort4Info(lengths, false, 3, 1));
  MrgSort<float>(f, MrgSortSrcList<float>{f2, f3, f3, f3}, lengths, merged, 3, 1);
  // use: GetMrgSortResult
  GetMrgSortResult(lengths[0], lengths[1], lengths[2], lengths[3]);
  // use: Concat
  Concat(f, f2, f3, 1);
  // use: Sort
  Sort<float, true>(f, f2, u32, f3, 1);
  // use: Extract
  Extract(f, u32, f2, 1);
  // use: TopK
  LocalTensor<bool> finished;
  TopK<float, false, true>(f, i32, f2, i32, finished, u8, 8, TopkTiling{}, TopKInfo{1, 32, 32});
  // use: GetSortOffset
  GetSortOffset<half>(3);
  // use: GetSortLen
  GetSortLen<float>(32);
  // use: GeGLU
  GeGLU(f, f2, f3);
  // use: SwiGLU
  SwiGLU(f, f2, f3, 1.0f, u8, 8);
  // use: ReGlu
  ReGlu(f, f2, f3, 8);
  // use: Fmod
  Fmod(f, f2, f3, u8);
  // use: Xor
  Xor(i16, i16, i16, u8, 8);
  // use: ClampMax
  ClampMax(f, f2, 1.0f, 8);
  // use: ClampMin
  ClampMin(f, f2, u8, 1.0f, 8);
  // use: CumSum
  CumSum(f, f2, f3, u8, {1, 8});
  // use: Arange
  Arange<int32_t>(i32, 0, 1, 8);
  // use: ArithProgression
  ArithProgression<float>(f, 0.0f, 0.5f, 8);
  // use: SelectWithBytesMask
  SelectWithBytesMaskShapeInfo select_shape;
  SelectWithBytesMask(f, f2, 1.0f, u8, u8, select_shape);
  Select(f, 1.0f, f2, u8, u8, select_shape);
  // use: DropOut
  DropOut(f, f2, u8, 0.5f, DropOutShapeInfo{});
  // use: Pad
  PadParams pad_params;
  PadTiling pad_tiling;
  Pad(f, f2, pad_params, u8, pad_tiling);
  // use: UnPad
  UnPadParams unpad_params;
  UnPadTiling unpad_tiling;
  UnPad(f, f2, unpad_params, unpad_tiling);
  // use: Mean
  Mean(f, f2, MeanParams{1, 8, 8});
  // use: ReduceMean
  ReduceMean<float, Pattern::Reduce::AR>(f, f2, u8, matrix_shape, true);
  ReduceMax<half, Pattern::Reduce::RA>(h, h2, matrix_shape, true);
  // use: ReduceProd
  ReduceProd<float, Pattern::Reduce::RA>(f, f2, matrix_shape, true);
  // use: IBSet
  GlobalTensor<int32_t> words;
  IBSet(words, i32, 0, 0);
  // use: IBWait
  IBWait(words, i32, 0, 0);
  // use: InitDetermineComputeWorkspace
  InitDetermineComputeWorkspace(words, i32);
  // use: WaitPreBlock
  WaitPreBlock(words, i32);
  // use: NotifyNextBlock
  NotifyNextBlock(words, i32);
  // use: DataSyncBarrier
  DataSyncBarrier<MemDsbT::DDR>();
  // use: ReadGmByPassDCache
  ReadGmByPassDCache<int32_t>((__gm__ int32_t*)x);
  // use: WriteGmByPassDCache
  WriteGmByPassDCache<int32_t>((__gm__ int32_t*)x, 1);
  // use: SetNextTaskStart
  SetNextTaskStart();
  // use: WaitPreTaskEnd
  WaitPreTaskEnd();
  // use: GetSystemCycle
  GetSystemCycle();
  // use: SetCtrlSpr
  SetCtrlSpr<48, 48>(1);
  // use: GetCtrlSpr
  GetCtrlSpr<48, 48>();
  // use: SetSaturationFlag
  SetSaturationFlag<SaturationMode::FLOAT>(true);
  // use: GetSaturationFlag
  GetSaturationFlag<SaturationMode::FLOAT>();
  // use: ListTensorDesc
  ListTensorDesc tensors(x);
  tensors.GetDataPtr<float>(0);
  // use: TensorDesc
  TensorDesc<float> one;
  tensors.GetDesc(one, 0);
  // use: ShapeInfo
  f.SetShapeInfo(ShapeInfo(2, matrix_shape));
  GetShapeSize(f.GetShapeInfo());
  // use: SliceInfo
  SliceInfo slices[] = {{0, 7, 0, 1, 8}, SliceInfo(0, 1, 0, 1, 2)};
  DataCopy(f, g, slices, slices, 2);
  DataCopy(g, f, slices, slices);
  // use: int4b_t
  LocalTensor<int4b_t> i4 = u8.ReinterpretCast<int4b_t>();
  Cast(i4, h, RoundMode::CAST_RINT, 8);
  Cast<half, int4b_t>(h, i4[64], RoundMode::CAST_NONE, 8ull, 1, {1, 1, 8, 2});
  Cast<int4b_t, half, false>(i4, h, RoundMode::CAST_CEIL, c, 1, u);
  // use: Trap
  if (index == 77) Trap();
  // use: AscendCUtils
  AscendCUtils::SetMask<float>(64);
  AscendCUtils::SetMask<half>(0, 255);
  AscendCUtils::ResetMask();
  AscendCUtils::SetOverflow(1);
  index += AscendCUtils::GetBitSize(4) + AscendCUtils::GetC0Count(sizeof(half));
  // use: TransDataTo5HDImpl
  __ubuf__ half* blocks_of[16] = {};
  TransDataTo5HDImpl(blocks_of, blocks_of, TransDataTo5HDParams{});
  // use: TQueConfig
  static constexpr TQueConfig config{};
  TQue<TPosition::VECIN, 1, &config> configured;
  pipe.InitBuffer(configured, 1, 256);
  configured.EnQue(configured.AllocTensor<float>());
  configured.DeQue();
  // use: IsSameType
  static_assert(IsSameType<float, float>::value && !IsSameType<float, half>::value);
  static_assert(std::is_same<std::int8_t, int8_t>::value && AscendC::Std::is_same<half, half>::value);
  // use: Std::min
  index = AscendC::Std::min(index, blocks);
  // use: Std::max
  index = Std::max(index, blocks);
  // use: AlignUp
  index = AlignUp(index, 32) + Ceil(index, 32) + ConstCeil(index, 32) + DivCeil(index, 32);
  // use: likely
  if (likely(index > 1) && unlikely(blocks == 0)) index = 2;
  // use: PRELOAD
  PRELOAD(2);
  // use: sqrt
  wide = sqrt(wide) + abs(wide) + fabs(wide) + abs(static_cast<int32_t>(index));
  // A kernel for several products names these, whatever it calls.
  static constexpr DivConfig div_config = {DivAlgo::INTRINSIC};
  Div<float, div_config>(f, f2, f3, 8);
  static constexpr PowerConfig power_config = {PowerAlgo::INTRINSIC};
  Power<float, false, power_config>(f, f2, f3, 8);
}
