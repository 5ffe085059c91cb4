"""The two lists of names: what ``apis.toml`` promises compiles in a kernel, what ``not_yet.h`` rejects says so."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import gn_tutorial
from gn_tutorial.build import build_kernel
from gn_tutorial.compiler import find_compiler, kernel_flags
from gn_tutorial.errors import CompileError

TWIN = Path(gn_tutorial.__file__).parent / "twin"
HEADER = TWIN / "include" / "gn_twin" / "not_yet.h"
APIS = tomllib.loads((TWIN / "apis.toml").read_text(encoding="utf-8"))
REJECTED = re.findall(r"^GNT_NOT_YET\w*\((\w+)(, (.+))?\)$", HEADER.read_text(encoding="utf-8"), flags=re.MULTILINE)
TYPES = re.findall(r"^GNT_NOT_YET_T\w+\((\w+)", HEADER.read_text(encoding="utf-8"), flags=re.MULTILINE)
FUNCTIONS = [name for name, _, _ in REJECTED if name not in TYPES]

# Uses of each name of apis.toml, as kernels write them. f, h, i16, u16, i32, u8: tensors in the Unified Buffer; g: in global memory;
# m: a mask array; u, b: stride structs.
UNARY = "{0}(f, f2, 8); {0}(h, h2, 8); {0}(f, f2, 8ull, 1, {{1, 1, 8, 8}}); {0}<half, false>(h, h2, m, 1, u);"
BINARY = "{0}(f, f2, f2, 8); {0}(f, f2, f2, 8ull, 1, {{1, 1, 1, 8, 8, 8}}); {0}<half, false>(h, h2, h2, m, 1, b);"
BITS = "{0}(u16, u16, u16, 8); {0}(i16, i16, i16, 8ull, 1, {{1, 1, 1, 8, 8, 8}}); {0}<int16_t, false>(i16, i16, i16, m, 1, b);"
SCALAR = "{0}(f, f2, 1.0f, 8); {0}<float, false>(f, f2, 1.0f, 8); {0}(h, h2, half(1.0f), 8ull, 1, u); {0}(h, h2, half(1.0f), m, 1, u);"
SHIFT = "{0}(i32, i32, 1, 8); {0}(i16, i16, static_cast<int16_t>(1), 8ull, 1, u); {0}(i16, i16, static_cast<int16_t>(1), m, 1, u);"
BLOCK = "{0}(f, f2, 1, 8, 1, 1, 8); {0}<half, false>(h, h2, 1, 8, 1, 1, 8); {0}(f, f2, 1, c, 1, 1, 8);"
WHOLE = "{0}(f, f2, 8, 1, 1, 1, 8); {0}<half, false>(h, h2, 8, 1, 1, 1, 8); {0}(f, f2, c, 1, 1, 1, 8);"
COMPARES = "{0}(u8, f, 1.0f, CMPMODE::LT, 64); {0}<float, uint8_t>(u8, f, 1.0f, CMPMODE::LT, 8ull, 1, u); {0}(u8, i32, 1, CMPMODE::EQ, c, 1, u);"
EXTREME = "{0}(f, f2, f3, 8); {0}(f, f2, f3, 8, true); {0}<half>(h, h2, h2, 8, 1, 8, true); {0}(f, f2, f3, c, 1, 8);"
USES = {name: UNARY for name in ("Abs", "Exp", "Ln", "Sqrt", "Rsqrt", "Reciprocal", "Relu")}
USES |= {name: BINARY for name in ("Add", "Sub", "Mul", "Div", "Max", "Min", "AddRelu", "SubRelu", "FusedMulAdd")}
USES |= {name: BITS for name in ("And", "Or")}
USES |= {name: SCALAR for name in ("Adds", "Muls", "Maxs", "Mins", "LeakyRelu")}
USES |= {name: SHIFT for name in ("ShiftLeft", "ShiftRight")}
USES |= {name: BLOCK for name in ("BlockReduceSum", "BlockReduceMax", "BlockReduceMin", "PairReduceSum")}
USES |= {name: WHOLE for name in ("WholeReduceSum", "WholeReduceMax", "WholeReduceMin")}
USES |= {name: COMPARES for name in ("CompareScalar", "Compares")}
USES |= {name: EXTREME for name in ("ReduceMax", "ReduceMin")}
USES |= {
    "GlobalTensor::SetGlobalBuffer": "g.SetGlobalBuffer((__gm__ float*)x); g.SetGlobalBuffer((__gm__ float*)x, 64);",
    "LocalTensor::operator[]": "f[8].GetSize(); g[8].GetSize();",
    "LocalTensor::GetValue": "f.GetValue(0); g.GetValue(0);",
    "LocalTensor::SetValue": "f.SetValue(0, 1); g.SetValue(0, 1.0f);",
    "LocalTensor::GetSize": "f.GetSize(); g.GetSize();",
    "LocalTensor::ReinterpretCast": "f.ReinterpretCast<int32_t>();",
    "bfloat16_t": "LocalTensor<bfloat16_t> bf = f.ReinterpretCast<bfloat16_t>(); Cast(bf, f2, RoundMode::CAST_RINT, 8);",
    "TPipe::InitBuffer": "pipe.InitBuffer(in, 1, 256); pipe.InitBuffer(spare, 256);",
    "TQue::AllocTensor": "LocalTensor<float> q = in.AllocTensor<float>();",
    "TQue::EnQue": "in.EnQue(q); out.EnQue<float>(out.AllocTensor<float>());",
    "TQue::DeQue": "q = in.DeQue<float>(); LocalTensor<float> r = out.DeQue<float>();",
    "TQue::FreeTensor": "in.FreeTensor(q); out.FreeTensor(r);",
    "TBuf::Get": "spare.Get<float>(); spare.Get<half>(16);",
    "TQueBind": "TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> both; pipe.InitBuffer(both, 1, 256);",
    "GetTPipePtr": "GetTPipePtr()->Reset(); AscendC::GetTPipePtr();",
    "TPipe::FetchEventID": "SetFlag<HardEvent::V_S>(pipe.FetchEventID(HardEvent::V_S)); pipe.FetchEventID<HardEvent::V_S>();",
    "TPipe::AllocEventID": "TEventID id = pipe.AllocEventID<HardEvent::V_S>();",
    "TPipe::ReleaseEventID": "pipe.ReleaseEventID<HardEvent::V_S>(id);",
    "DataCopy": "DataCopy(f, g, 8); DataCopy(g, f, 8); DataCopy(f, f2, 8); DataCopy(f, g, {1, 1, 0, 0}); DataCopy(g, f, copy); DataCopy(f, f2, copy);",
    "DataCopyPad": "DataCopyPad(f, g, {1, 4, 0, 0, 0}, {false, 0, 0, 0}); DataCopyPad(g, f, {1, 4, 0, 0, 0});"
    " DataCopyPad(f, g, copy, DataCopyPadParams{}); DataCopyPad(g, f, copy);",
    "Copy": "Copy(f, f2, 8ull, 1, {1, 1, 8, 8}); Copy<half, false>(h, h2, c, 1, CopyRepeatParams{1, 1, 8, 8});",
    "SetPadValue": "SetPadValue(1.0f); SetPadValue<half>(half(1.0f));",
    "DataCacheCleanAndInvalid": "DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(g);"
    " DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(g[8]);",
    "Axpy": "Axpy(f, f2, 1.0f, 8); Axpy(f, h, half(1.0f), 8); Axpy<float, half, false>(f, h, half(1.0f), 8ull, 1, {1, 1, 8, 4});",
    "MulAddDst": "MulAddDst(f, f2, f3, 8); MulAddDst<float, half>(f, h, h2, 8ull, 1, b); MulAddDst(f, f2, f3, c, 1, b);",
    "Not": "Not(i16, i16, 8); Not(u16, u16, 8ull, 1, u); Not<int16_t, false>(i16, i16, m, 1, u);",
    "Sigmoid": "Sigmoid(f, f2); Sigmoid(f, f2, 8); Sigmoid(f, f2, u8); Sigmoid<float, false>(f, f2, u8, 8);",
    "Cast": "Cast(h, f, RoundMode::CAST_NONE, 8); Cast<float, half>(f, h, RoundMode::CAST_NONE, 8ull, 1, {1, 1, 8, 4});"
    " Cast<half, float, false>(h, f, RoundMode::CAST_RINT, c, 1, u); Cast(1.0f); Cast<float, int32_t, RoundMode::CAST_RINT>(1.5f);",
    "SetDeqScale": "SetDeqScale(half(1.0f)); SetDeqScale((half)1.0);",
    "Compare": "Compare(u8, f, f2, CMPMODE::LT, 64); Compare<half, int8_t>(u8.ReinterpretCast<int8_t>(), h, h2, CMPMODE::NE, 8ull, 1, b);"
    " Compare(u8, f, f2, CMPMODE::EQ, c, 1, b);",
    "Select": "Select(f, u8, f2, f3, SELMODE::VSEL_TENSOR_TENSOR_MODE, 8); Select(f, u16, f2, 1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 8);"
    " Select<float, uint8_t>(f, u8, f2, f3, SELMODE::VSEL_CMPMASK_SPR, 8ull, 1, b);"
    " Select(f, u8, f2, 1.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, m, 1, b);",
    "Duplicate": "Duplicate(f, 1.0f, 8); Duplicate<half>(h, 1.0f, 8); Duplicate(f, 1.0f, 8ull, 1, 1, 8); Duplicate(f, 1.0f, m, 1, 1, 8);",
    "CreateVecIndex": "CreateVecIndex(f, 0.0f, 8); CreateVecIndex<int32_t>(i32, 0, 8);",
    "Brcb": "Brcb(f, f2, 1, {1, 8}); Brcb(h, h2, 1, BrcbRepeatParams{1, 8});",
    "Gather": "Gather(f, f2, u32, 0, 8); Gather(f, f2, u32, 0, 8ull, 1, 8); Gather(h, h2, u32, 0, c, 1, 8);",
    "ReduceSum": "ReduceSum(f, f2, f3, 8); ReduceSum<float>(f, f2, f3, 8, 1, 8); ReduceSum<half, true>(h, h2, h2, c, 1, 8);",
    "RepeatReduceSum": "RepeatReduceSum(f, f2, 1, 8, 1, 1, 8, 8);",
    "SetVectorMask": "SetVectorMask<half, MaskMode::NORMAL>(0, 255); SetVectorMask<float, MaskMode::COUNTER>(0, 8); SetVectorMask<float>(8);",
    "SetMaskCount": "SetMaskCount();",
    "SetMaskNorm": "SetMaskNorm();",
    "ResetMask": "AscendC::ResetMask();",
    "PipeBarrier": "PipeBarrier<PIPE_V>(); PipeBarrier<PIPE_MTE2>(); PipeBarrier<PIPE_MTE3>(); PipeBarrier<PIPE_ALL>();",
    "SetFlag": "SetFlag<HardEvent::MTE2_V>(EVENT_ID0); SetFlag<HardEvent::V_MTE3>(1);",
    "WaitFlag": "WaitFlag<HardEvent::MTE2_V>(EVENT_ID0); WaitFlag<HardEvent::V_MTE3>(1);",
    "SyncAll": "SyncAll(); SyncAll<true>();",
    "GetBlockIdx": "uint32_t index = GetBlockIdx() * 2;",
    "GetBlockNum": "uint32_t blocks = AscendC::GetBlockNum() + index;",
    "GetSubBlockIdx": "GetSubBlockIdx();",
    "GetSubBlockNum": "GetSubBlockNum();",
    "GetTaskRation": "GetTaskRation();",
    "GetTaskRatio": "GetTaskRatio();",
    "InitSocState": "AscendC::InitSocState();",
    "ASCEND_IS_AIV": "if ASCEND_IS_AIV { PipeBarrier<PIPE_V>(); }",
    "ASCEND_IS_AIC": "if ASCEND_IS_AIC { return; }",
    "GetUserWorkspace": "GM_ADDR user = GetUserWorkspace(workspace); g.SetGlobalBuffer((__gm__ float*)user);",
    "GetSysWorkSpacePtr": "GM_ADDR system = GetSysWorkSpacePtr(); g.SetGlobalBuffer((__gm__ float*)system);",
    "SetSysWorkspace": "SetSysWorkspace(workspace);",
    "GET_TILING_DATA": "GET_TILING_DATA(td, tiling); index += td.n;",
    "GET_TILING_DATA_WITH_STRUCT": "GET_TILING_DATA_WITH_STRUCT(Tiling, other, tiling); blocks += other.n + index;",
    "REGISTER_TILING_DEFAULT": "",  # before the kernel
    "TILING_KEY_IS": "if (TILING_KEY_IS(1)) { index = 0; } else if (TILING_KEY_IS(10000000000000000001UL)) { index = 1; }",
    "KERNEL_TASK_TYPE_DEFAULT": "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY); KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);",
    "ASCENDC_TPL_ARGS_DECL": "",  # before the kernel
    "printf": 'printf("%d %f %u\\n", index, 1.0f, blocks); AscendC::printf("text");',
    "PRINTF": 'PRINTF("%f\\n", half(1.0f));',
    "DumpTensor": "DumpTensor(f, 1, 8); DumpTensor(g, 2, 8);",
    "ascendc_assert": 'ascendc_assert(index < 5); ascendc_assert(index < 5, "index is %d", index);',
    "ASSERT": "ASSERT(index < 5); ASSERT((index < 5) && \"text\")",  # no semicolon after it
    "ToFloat": "float wide = ToFloat(ToBfloat16(1.0f));",
    "ToBfloat16": "bfloat16_t narrow = AscendC::ToBfloat16(wide); wide = ToFloat(narrow);",
    "LocalTensor": "LocalTensor<float> placed(TPosition::VECCALC, 256, 64);",
    "LocalMemAllocator": "LocalMemAllocator<Hardware::UB> memory; f = memory.Alloc<float, 8>(); f = memory.Alloc<float>(index);"
    " f = memory.Alloc<TPosition::VECIN, float, 8>(); f = memory.Alloc<TPosition::VECIN, float>(8); index += memory.GetCurAddr();",
    "PopStackBuffer": "PopStackBuffer<float, TPosition::LCM>(f);",
    "LocalTensor::GetPhyAddr": "__ubuf__ float* address = (__ubuf__ float*)f.GetPhyAddr(); address = f[8].GetPhyAddr(8);",
    "LocalTensor::SetSize": "f.SetSize(8);",
    "TBuf::GetWithOffset": "f = spare.GetWithOffset<float>(8, 32);",
    "TPipe::Reset": "pipe.Reset();",
    "TPipe::Destroy": "pipe.Destroy();",
    "SetAtomicAdd": "SetAtomicAdd<float>(); SetAtomicAdd<bfloat16_t>();",
    "SetAtomicMax": "SetAtomicMax<half>();",
    "SetAtomicMin": "SetAtomicMin<int8_t>();",
    "SetAtomicType": "SetAtomicType<int16_t>();",
    "SetAtomicNone": "SetAtomicNone();",
    "DisableDmaAtomic": "AscendC::DisableDmaAtomic();",
    "set_flag": "set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);",
    "wait_flag": "wait_flag(PIPE_MTE2, PIPE_V, static_cast<event_t>(0));",
    "pipe_barrier": "pipe_barrier(PIPE_V); pipe_barrier(PIPE_ALL);",
    "dcci": "dcci(x, SINGLE_CACHE_LINE); dcci((__gm__ void*)x, cache_line_t::ENTIRE_DATA_CACHE, dcci_dst_t::CACHELINE_OUT);",
    "DataCachePreload": "GlobalTensor<uint64_t> line; DataCachePreload(line, 0);",
    "GatherMask": "uint64_t kept; GatherMask(f, f2, 1, false, 0, {1, 1, 8, 0}, kept); GatherMask(f, f2, u32, true, 70, GatherMaskParams{1, 2, 8, 0}, kept); GatherMask<half>(h, h2, u16, true, 8, {1, 1, 8, 0}, kept);",
    "SetCmpMask": "SetCmpMask(u8); Select<float, SELMODE::VSEL_CMPMASK_SPR>(f, f2, f3, 1, b); Select(f, u8, f2, 1, b);",
    "GetCmpMask": "Compare(f, f2, CMPMODE::LT, 64ull, b); Compare<half>(h, h2, CMPMODE::LT, c, b); GetCmpMask(u8);",
    "Transpose": "Transpose(h, h2); Transpose(f, f2, u8, TransposeParamsExt(1, 2, 4, 8, TransposeType::TRANSPOSE_NCHW2NHWC)); Transpose<uint16_t>(u16, u16);",
    "TransDataTo5HD": "uint64_t list[16]; LocalTensor<half> tiles[16]; TransDataTo5HD<half>(tiles, tiles, {false, false, 1, 0, 0}); TransDataTo5HD<float>(list, list, {}); LocalTensor<uint64_t> lists; TransDataTo5HD<int8_t>(lists, lists, TransDataTo5HDParams{});",
    "GetAccVal": "wide = GetAccVal<float>();",
    "GetReduceRepeatSumSpr": "wide = GetReduceRepeatSumSpr<float>();",
    "GetReduceRepeatMaxMinSpr": "GetReduceRepeatMaxMinSpr<float>(wide, wide); GetReduceRepeatMaxMinSpr<float>(wide);",
    "GetReduceMaxMinCount": "GetReduceMaxMinCount<float>(wide, wide);",
    "Sin": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Cos": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Tan": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Asin": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Acos": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Atan": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Sinh": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Cosh": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Tanh": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Asinh": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Acosh": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Atanh": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Erf": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Erfc": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Floor": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Ceil": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Trunc": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Frac": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Sign": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Log2": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Log10": "{0}(f, f2); {0}(f, f2, 8); {0}(f, f2, u8); {0}<half, false>(h, h2, u8, 8);",
    "Log": "Log(f, f2); Log<half, false>(h, h2, 8);",
    "Round": "Round(f, f2, 8); Round<half>(h, h2, u8, 8);",
    "Power": "Power(f, f2, f3); Power(f, f2, 2.0f, 8); Power<float, false>(f, 2.0f, f3, u8, 8); Power(i32, i32, 2);",
    "Silu": "Silu(f, f2, 8); Silu<half, false>(h, h2, 8);",
    "Swish": "Swish(f, f2, 8, 1.702f);",
    "Gelu": "Gelu(f, f2, 8); Gelu<half, false, false>(h, h2, u8, 8);",
    "FasterGelu": "FasterGelu(f, f2, 8);",
    "Broadcast": "uint32_t to[2] = {4, 8}, from[2] = {4, 1}; Broadcast<float, 2, 1>(f, f2, to, from); Broadcast<half, 1, 0, false>(h, h2, to, from, u8);",
    "BroadCast": "BroadCast<float, 2, 1>(f, f2, to, from);",
    "Sum": "Sum(f, f2, SumParams{1, 8, 8}); Sum<float, -1, false, false>(f, f2, u8, {1, 8, 8});",
    "Fill": "Fill(g, 8, 1.0f);",
    "InitGlobalMemory": "InitGlobalMemory(g, 8, 0.0f);",
    "InitOutput": "InitOutput<float>(g, 8, 0); InitOutput(g[8], 8, 0.0f);",
    "ReduceRepeat": "{0}<ReduceType::SUM>(f, f2, 64, 1, 1, 1, 8); {0}<ReduceType::SUM, half, half, false>(h, h2, c, 1, 1, 1, 8); ReduceRepeat<ReduceType::MAX, half>(h, h2, 128, 1, 1, 1, 8, ReduceOrder::ORDER_ONLY_INDEX);",
    "ReduceDataBlock": "{0}<ReduceType::SUM>(f, f2, 64, 1, 1, 1, 8); {0}<ReduceType::SUM, half, half, false>(h, h2, c, 1, 1, 1, 8);",
    "ReducePairElem": "{0}<ReduceType::SUM>(f, f2, 64, 1, 1, 1, 8); {0}<ReduceType::SUM, half, half, false>(h, h2, c, 1, 1, 1, 8);",
    "GetSFFValue": "index += GetSFFValue<1>(8);",
    "ScalarGetSFFValue": "index += ScalarGetSFFValue<0>(8);",
    "GetBitCount": "index += GetBitCount<1>(8);",
    "ScalarGetCountOfValue": "index += ScalarGetCountOfValue<1>(8);",
    "CountLeadingZero": "index += CountLeadingZero(8);",
    "ScalarCountLeadingZero": "index += ScalarCountLeadingZero(8);",
    "CountBitsCntSameAsSignBit": "index += CountBitsCntSameAsSignBit(8);",
    "CeilDivision": "index += CeilDivision(9, 8);",
    "ScalarCast": "index += ScalarCast<float, int32_t, RoundMode::CAST_ROUND>(wide);",
}  # fmt: skip
BEFORE = """#include "kernel_operator.h"
using namespace AscendC;
struct Tiling { uint32_t n; };
REGISTER_TILING_DEFAULT(Tiling);
ASCENDC_TPL_ARGS_DECL(Op, ASCENDC_TPL_DTYPE_DECL(D, C_DT_FLOAT, C_DT_FLOAT16), ASCENDC_TPL_BOOL_DECL(B, 0, 1));
"""
KERNEL = """extern "C" __global__ __aicore__ void all_names(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {
TPipe pipe; TQue<TPosition::VECIN, 1> in; TQue<QuePosition::VECOUT, 1> out; TBuf<TPosition::VECCALC> spare;
GlobalTensor<float> g; LocalTensor<float> f, f2, f3; LocalTensor<half> h, h2; LocalTensor<int16_t> i16; LocalTensor<uint16_t> u16;
LocalTensor<int32_t> i32; LocalTensor<uint32_t> u32; LocalTensor<uint8_t> u8;
uint64_t m[2] = {1, 0}; const uint64_t c[2] = {1, 0}; UnaryRepeatParams u; BinaryRepeatParams b{1, 1, 1, 8, 8, 8}; DataCopyParams copy{1, 1, 0, 0};
"""


def test_every_promised_name_compiles_in_a_kernel() -> None:
    assert set(USES) == set(APIS), "apis.toml and the uses above differ"
    # Names that declare what later ones use come first; within apis.toml's order that holds but for these.
    first = [
        "TPipe::InitBuffer",
        "TQue::AllocTensor",
        "TQue::EnQue",
        "TQue::DeQue",
        "TQue::FreeTensor",
        "GetBlockIdx",
        "GetBlockNum",
    ]
    names = first + [name for name in APIS if name not in first]
    body = "\n".join(USES[name].format(name) if "{0}" in USES[name] else USES[name] for name in names)
    built = build_kernel(f"{BEFORE}{KERNEL}{body}\n}}\n", optimise=False)
    assert [entry.name for entry in built.entries] == ["all_names"]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("LocalTensor<bfloat16_t> t; Add(t, t, t, 8);", "Add on Atlas A2"),
        ("LocalTensor<int8_t> t; Add(t, t, t, 8);", "Add on Atlas A2"),
        ("LocalTensor<float> t; Muls(t, t, 1.0, 8);", "Muls"),  # a double literal
        ("LocalTensor<int32_t> t; Div(t, t, t, 8);", "Div on Atlas A2"),
        ("LocalTensor<int32_t> t; ReduceSum(t, t, t, 8);", "Atlas A2"),
        ("LocalTensor<int8_t> t; Duplicate(t, static_cast<int8_t>(1), 8);", "Duplicate on Atlas A2"),
        ("LocalTensor<half> h; LocalTensor<bfloat16_t> b; Cast(b, h, RoundMode::CAST_NONE, 8);", "Cast on Atlas A2"),
        ("LocalTensor<float> t; And(t, t, t, 8);", "16-bit integers"),
        ("LocalTensor<float> t; uint64_t m[2]; And(t.ReinterpretCast<int32_t>(), t.ReinterpretCast<int32_t>(),"
         " t.ReinterpretCast<int32_t>(), m, 1, {1, 1, 1, 8, 8, 8});", "And"),
        ("LocalTensor<float> t; GlobalTensor<float> g; DataCopyPad(t, g, DataCopyExtParams{1, 4, 0, 0, 0});", "DataCopyPad"),
        ("PipeBarrier<PIPE_S>();", "PipeBarrier"),
        ("TQue<TPosition::VECCALC, 1> q; TPipe p; p.InitBuffer(q, 1, 32);", "TQue takes VECIN or VECOUT"),
    ],
)  # fmt: skip
def test_what_the_device_does_not_have_does_not_compile(statement: str, reason: str) -> None:
    source = f'#include "kernel_operator.h"\nusing namespace AscendC;\nextern "C" __global__ __aicore__ void k(GM_ADDR x) {{\n{statement}\n}}\n'
    with pytest.raises(CompileError) as caught:
        build_kernel(source, optimise=False)
    assert reason in str(caught.value)


def errors_of(lines: list[str], tmp_path: Path) -> dict[int, str]:
    """The compiler's first error of each line."""
    compiler = find_compiler()
    source = tmp_path / "rejected.cpp"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    unlimited = "-ferror-limit=0" if compiler.name != "g++" else "-fmax-errors=0"
    flags = [flag for flag in kernel_flags(compiler, optimise=False) if flag != "-shared"]
    command = [
        *compiler.argv,
        *flags,
        f"-I{TWIN / 'include'}",
        "-DGNT_OBSERVED=1",
        unlimited,
        "-fsyntax-only",
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found: dict[int, str] = {}
    for line in done.stderr.splitlines():
        if match := re.match(r".*rejected\.cpp:(\d+):\d+: error: (.*)", line):
            found.setdefault(int(match.group(1)), match.group(2))
    return found


def rejected_by(lines: list[str], names: list[str], tmp_path: Path) -> list[str]:
    """The names whose line (4 lines further on) does not say that the twin lacks them."""
    start = ['#include "kernel_operator.h"', "using namespace AscendC;",
             "void f(LocalTensor<float> t, GlobalTensor<float> g, uint64_t& count) {"]  # fmt: skip
    errors = errors_of([*start, *lines, "}"], tmp_path)
    return [f"{name}: {errors.get(i, 'compiles')}" for i, name in enumerate(names, len(start) + 1)
            if not re.search(rf"not on the twin yet: {name}\b", errors.get(i, ""))]  # fmt: skip


def test_every_rejected_name_says_so(tmp_path: Path) -> None:
    assert len(FUNCTIONS) > 100  # the list shrinks as the twin grows
    assert not rejected_by([f"{name}(t, t, 5);" for name in FUNCTIONS], FUNCTIONS, tmp_path)


def test_every_rejected_type_says_so(tmp_path: Path) -> None:
    arguments = {"TensorDesc": "<float>", "CubeResGroupHandle": "<int>", "NumericLimits": "<float>", "TQueSync": "<PIPE_V, PIPE_S>",
                 "TBufPool": "<TPosition::VECCALC>", "TSCM": "<TPosition::GM, 1>", "GroupBarrier": "<1>",
                 "TensorTrait": "<float>", "Layout": "<int, int>"}  # fmt: skip
    lines = [f"{name}{arguments.get(name, '')} x{i};" for i, name in enumerate(TYPES)]
    assert not rejected_by(lines, TYPES, tmp_path)


@pytest.mark.parametrize(
    "call",
    [
        "{0}();",
        "{{ float v = {0}<float>(); }}",
        "{0}<float>(t, t, 5);",
        "{0}<float, false>(t[8], t, 5);",
        "{0}<float, half, true, 3>(t, t, 5);",
        "{0}<true>(g, t, 5);",
        "{0}<PIPE_V, PIPE_MTE3>(5);",
        "{0}<CMPMODE::LT, float, float>(t, t, 5);",
        "{0}(t, t, {{1, 1, 8, 8}}, count);",
        "AscendC::{0}<float>(t, {{}}, {{1.0f, t}}, &count, nullptr);",
    ],
)
def test_each_way_of_calling_reaches_the_message(call: str, tmp_path: Path) -> None:
    names = ["Sort32", "SoftMax", "MrgSort", "LayerNorm", "CrossCoreSetFlag", "TopK", "IBSet"]
    assert not rejected_by([call.format(name) for name in names], names, tmp_path)


def test_a_learners_own_function_of_a_rejected_name_wins(tmp_path: Path) -> None:
    # Helpers called Ceil or Round are common; with `using namespace AscendC` both are visible.
    lines = ['#include "kernel_operator.h"', "using namespace AscendC;", "uint32_t Ceil(uint32_t a, uint32_t b) { return (a + b - 1) / b; }",
             "template <class T> T Round(T a, T b) { return a / b * b; }", "uint32_t f(int n) { return Ceil(n, 8) + Round(n, 8); }"]  # fmt: skip
    assert errors_of(lines, tmp_path) == {}


def test_no_name_is_in_both_lists() -> None:
    assert not {name.split("::")[0] for name in APIS} & set(FUNCTIONS + TYPES)
    assert len(set(FUNCTIONS + TYPES)) == len(FUNCTIONS + TYPES)


def test_rejected_names_are_declared_nowhere_else() -> None:
    # An overload of its own would make the rejecting one lose, or the call ambiguous.
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(HEADER.parent.glob("*.h")) if path != HEADER)
    declared = set(
        re.findall(r"^(?:template .*|inline|constexpr|static)[^;{}()=]*?\b([A-Z]\w+)\(", text, flags=re.MULTILINE)
    )
    assert len(declared) > 50
    assert not declared & set(FUNCTIONS)
