"""Names that public kernels use without a page of their own: traits, scalar helpers, older spellings."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from gn_tutorial.errors import CompileError, KernelFault
from gn_tutorial.operators.arguments import inout
from gn_tutorial.operators.kernel import kernel

HEAD = '#include "kernel_operator.h"\nusing namespace AscendC;\n'


def test_scalar_helpers() -> None:
    values = np.array([2.0, 3.0, 1e-40, 65504.0], np.float32)
    source = HEAD + (
        'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) {\n'
        "  GlobalTensor<float> in, out;\n"
        "  in.SetGlobalBuffer((__gm__ float*)x); out.SetGlobalBuffer((__gm__ float*)y);\n"
        "  for (int i = 0; i < 4; ++i) out.SetValue(i, sqrt(in.GetValue(i)));\n"
        "  out.SetValue(4, abs(-in.GetValue(0))); out.SetValue(5, abs(-3)); out.SetValue(6, fabs(-2.5f));\n"
        "  out.SetValue(7, AlignUp(33, 32) + Ceil(7, 4));\n"
        "  out.SetValue(8, unlikely(false) ? 1 : likely(true) ? 2 : 3);\n"
        "  out.SetValue(9, Std::min(3, 2) * 10 + Std::max(3, 2)); out.SetValue(10, 1.0f / abs(-0.0f)); PRELOAD(4);\n"
        "  out.SetValue(11, ConstCeil(9, 4) + std::int8_t(1)); }\n"
    )
    y = kernel(source=source, optimise=False).run(values, inout(np.zeros(12, np.float32)))["y"]
    assert np.array_equal(y[:4], np.sqrt(values.astype(np.float64)).astype(np.float32))
    assert y[4:].tolist() == [2, 3, 2.5, 64 + 2, 2, 23, np.inf, 4]


def test_headers_that_kernels_include_beside_the_operator_s() -> None:
    source = (
        '#include "kernel_type.h"\n#include "kernel_operator_intf.h"\n'
        + HEAD
        + ('extern "C" __global__ __aicore__ void k(GM_ADDR x) { __gm__ float* y = (__gm__ float*)x; y[0] = 3.0f; }\n')
    )
    made = kernel(source=source, optimise=False).run(inout(np.zeros(1, np.float32)))
    assert made["x"].tolist() == [3]


def test_a_number_of_bfloat16_is_no_float_without_a_call() -> None:
    """The device's compiler takes no conversion either: "not support bf16 type cast"."""
    source = HEAD + (
        'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR n) {\n'
        "  __gm__ bfloat16_t* from = (__gm__ bfloat16_t*)n; __gm__ float* y = (__gm__ float*)x;\n"
        "  y[0] = ToFloat(from[0]);\n}\n"
    )
    numbers = np.array([1.5], ml_dtypes.bfloat16)
    assert kernel(source=source, optimise=False).run(inout(np.zeros(1, np.float32)), numbers)["x"].tolist() == [1.5]
    implicit = source.replace("y[0] = ToFloat(from[0]);", "float v = from[0]; y[0] = v;")
    with pytest.raises(CompileError) as caught:
        kernel(source=implicit, optimise=False).build()
    assert "AscendC::ToFloat(value)" in str(caught.value)


def test_a_kernels_own_functions_of_these_names_win() -> None:
    source = HEAD + (
        "template <class A, class B> struct is_same { static constexpr int value = 7; };\n"
        "float sqrt(float) { return 5; }\n"
        "template <class T> T AlignUp(T a, T) { return a + 1; }\nint Ceil(int a, int) { return a; }\n"
        'extern "C" __global__ __aicore__ void k(GM_ADDR x) {\n'
        "  __gm__ float* y = (__gm__ float*)x; y[0] = is_same<int, float>::value; y[1] = sqrt(4.0f);\n"
        "  y[2] = AlignUp(int64_t{3}, int64_t{32}) + Ceil(7u, 2); y[3] = IsSameType<int, int>::value; }\n"
    )
    made = kernel(source=source, optimise=False).run(inout(np.zeros(4, np.float32)))
    assert made["x"].tolist() == [7, 5, 4 + 7, 1]


def test_bfloat16_of_literals_and_integers() -> None:
    numbers = [0, 1, -3, 257, 65537, 2**31 - 1]
    source = HEAD + (
        'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR n) {\n'
        "  __gm__ bfloat16_t* y = (__gm__ bfloat16_t*)x; __gm__ int32_t* from = (__gm__ int32_t*)n;\n"
        "  for (int i = 0; i < 6; ++i) y[i] = from[i];\n"
        "  bfloat16_t zero = 0, third = 1.0 / 3; y[6] = zero; y[7] = third; y[8] = static_cast<bfloat16_t>(5u);\n"
        "  y[9] = static_cast<bfloat16_t>(int64_t{1} << 40); y[10] = static_cast<bfloat16_t>(half(0.5f));\n"
        "  static_assert(std::is_same_v<__bf16, bfloat16_t>); }\n"
    )
    made = kernel(source=source, optimise=False).run(
        inout(np.zeros(11, ml_dtypes.bfloat16)), np.array(numbers, np.int32)
    )
    exact = np.array([*numbers, 0, 1 / 3, 5, 2.0**40, 0.5]).astype(ml_dtypes.bfloat16)
    assert np.array_equal(made["x"].view(np.uint16), exact.view(np.uint16))


def test_the_sums_register_as_bits_and_the_older_mask() -> None:
    x = np.linspace(-1, 3, 128, dtype=np.float32)
    source = HEAD + (
        'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) {\n'
        "  TPipe pipe; TBuf<TPosition::VECCALC> a, b; pipe.InitBuffer(a, 512); pipe.InitBuffer(b, 512);\n"
        "  LocalTensor<float> in = a.Get<float>(), work = b.Get<float>();\n"
        "  GlobalTensor<float> from, to;\n"
        "  from.SetGlobalBuffer((__gm__ float*)x); to.SetGlobalBuffer((__gm__ float*)y);\n"
        "  DataCopy(in, from, 128); PipeBarrier<PIPE_ALL>(); ReduceSum(work, in, work, 64); PipeBarrier<PIPE_ALL>();\n"
        "  uint64_t bits = GetAccVal(); to.SetValue(0, *reinterpret_cast<float*>(&bits));\n"
        "  Duplicate(work, 0.0f, 64); PipeBarrier<PIPE_ALL>(); AscendCUtils::SetMask<float>(3);\n"
        "  Adds<float, false>(work, in, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8}); AscendCUtils::ResetMask();\n"
        "  PipeBarrier<PIPE_ALL>(); for (int i = 0; i < 4; ++i) to.SetValue(1 + i, work.GetValue(i));\n"
        "  LocalTensor<half> narrow = in.ReinterpretCast<half>(); Duplicate(narrow, half(0.25f), 128);\n"
        "  PipeBarrier<PIPE_ALL>(); ReduceSum(narrow, narrow, narrow, 128); PipeBarrier<PIPE_ALL>();\n"
        "  bits = GetAccVal(); to.SetValue(5, static_cast<float>(*reinterpret_cast<half*>(&bits))); }\n"
    )
    y = kernel(source=source, optimise=False).run(x, inout(np.zeros(8, np.float32)))["y"]
    # A tree of 64 float additions of numbers below 1.
    assert abs(y[0] - x[:64].astype(np.float64).sum()) < 64 * 2.0**-24
    assert np.array_equal(y[1:6], np.append(x[:3] + np.float32(1), np.float32([0, 32])))


def test_queues_without_a_type_and_pipes_made_from_another() -> None:
    source = HEAD + (
        "class Stage { public:\n"
        "  __aicore__ void Init(TPipe& other) {\n"
        "    pipe_ = other; pipe_.InitBuffer(in_, 2, 64); pipe_.InitBuffer(spare_, 32); }\n"
        "  __aicore__ void Run(GM_ADDR x, GM_ADDR y) {\n"
        "    GlobalTensor<float> from, to;\n"
        "    from.SetGlobalBuffer((__gm__ float*)x); to.SetGlobalBuffer((__gm__ float*)y);\n"
        "    LocalTensor<float> t = in_.AllocTensor<float>(); DataCopy(t, from, 16); in_.EnQue(t);\n"
        "    TBufHandle address = in_.DeQue();\n"
        "    LocalTensor<float> copy; spare_.AllocTensor(copy); DataCopy(copy, t, 8);\n"
        "    spare_.EnQue(copy); spare_.DeQue(copy);\n"
        "    PipeBarrier<PIPE_ALL>(); DataCopy(to, copy, 8); PipeBarrier<PIPE_ALL>();\n"
        "    to.SetValue(8, address == (TBufHandle)t.GetPhyAddr()); to.SetValue(9, pipe_.Used());\n"
        "  in_.FreeTensor(t); }\n"
        "  TPipe pipe_; TQue<TPosition::VECIN, 1> in_; TBuf<TPosition::VECCALC> spare_; };\n"
        'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) {\n'
        "  Stage stage; TPipe pipe; TBuf<TPosition::VECCALC> first; pipe.InitBuffer(first, 96);\n"
        "  stage.Init(pipe); stage.Run(x, y); }\n"
    )
    x = np.arange(16, dtype=np.float32)
    y = kernel(source=source, optimise=False).run(x, inout(np.zeros(16, np.float32)))["y"]
    assert np.array_equal(y[:10], [*x[:8], 1, 96 + 2 * 64 + 32])


def test_pointers_are_transposed_like_tensors() -> None:
    source = HEAD + (
        'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) {\n'
        "  TPipe pipe; TBuf<TPosition::VECCALC> a, b; pipe.InitBuffer(a, 512); pipe.InitBuffer(b, 512);\n"
        "  LocalTensor<int16_t> in = a.Get<int16_t>(), out = b.Get<int16_t>();\n"
        "  GlobalTensor<int16_t> from, to;\n"
        "  from.SetGlobalBuffer((__gm__ int16_t*)x); to.SetGlobalBuffer((__gm__ int16_t*)y);\n"
        "  DataCopy(in, from, 256); PipeBarrier<PIPE_ALL>(); __ubuf__ int16_t* src[16]; __ubuf__ int16_t* dst[16];\n"
        "  for (int i = 0; i < 16; ++i) { src[i] = in[i * 16].GetPhyAddr(); dst[i] = out[i * 16].GetPhyAddr(); }\n"
        "  TransDataTo5HDImpl(dst, src, TransDataTo5HDParams(false, false, 1, 0, 0)); PipeBarrier<PIPE_ALL>();\n"
        "  DataCopy(to, out, 256); }\n"
    )
    x = np.arange(256, dtype=np.int16)
    y = kernel(source=source, optimise=False).run(x, inout(np.zeros_like(x)))["y"]
    assert np.array_equal(y.reshape(16, 16), x.reshape(16, 16).T)


def test_trap_ends_the_launch_and_other_products_configs_are_refused() -> None:
    source = HEAD + 'extern "C" __global__ __aicore__ void k(GM_ADDR x) { if (*x == 0) Trap(); }\n'
    trapped = kernel(source=source, optimise=False)
    trapped.run(np.ones(1, np.uint8))
    with pytest.raises(KernelFault, match="Trap"):
        trapped.run(np.zeros(1, np.uint8))
    for call in ("Div<float, exact>(t, t, t, 8);", "Power<float, false, power>(t, t, t, 8);"):
        source = HEAD + (
            "static constexpr DivConfig exact = {DivAlgo::PRECISION_0ULP_FTZ_FALSE};\n"
            "static constexpr PowerConfig power = {PowerAlgo::DOUBLE_FLOAT_TECH};\n"
            f'extern "C" __global__ __aicore__ void k(GM_ADDR x) {{ LocalTensor<float> t; {call} }}\n'
        )
        with pytest.raises(CompileError, match="on Atlas A2 takes no config"):
            kernel(source=source, optimise=False).run(np.zeros(8, np.float32))


def test_addresses_of_instructions() -> None:
    source = HEAD + (
        "template <class T> using Three = void(const LocalTensor<T>&, const LocalTensor<T>&, const LocalTensor<T>&,\n"
        "                                      const int32_t&);\n"
        "template <class T> using Masked = void(const LocalTensor<T>&, const LocalTensor<T>&, const LocalTensor<T>&,\n"
        "                                       uint64_t, const uint8_t, const BinaryRepeatParams&);\n"
        "template <class T> using Two = void(const LocalTensor<T>&, const LocalTensor<T>&, const int32_t&);\n"
        "template <class T> using Maths = void(const LocalTensor<T>&, const LocalTensor<T>&, const uint32_t);\n"
        "template <Three<float>* three, Masked<float>* masked, Two<float>* two, Maths<float>* maths> struct All {\n"
        "  static void Run(LocalTensor<float> t, LocalTensor<float> other) {\n"
        "    three(t, t, other, 64); masked(t, t, other, 64, 1, {1, 1, 1, 8, 8, 8}); two(t, t, 64);\n"
        "    maths(other, t, 64); } };\n"
        'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) {\n'
        "  TPipe pipe; TBuf<TPosition::VECCALC> a, b; pipe.InitBuffer(a, 256); pipe.InitBuffer(b, 256);\n"
        "  LocalTensor<float> t = a.Get<float>(), other = b.Get<float>();\n"
        "  GlobalTensor<float> from, to;\n"
        "  from.SetGlobalBuffer((__gm__ float*)x); to.SetGlobalBuffer((__gm__ float*)y);\n"
        "  DataCopy(t, from, 64); DataCopy(other, from[64], 64);\n"
        "  DataCopyPadExtParams params{true, 0, 0, 0};\n"
        "  static_assert(std::is_same_v<decltype(params.paddingValue), int>);\n"
        "  PipeBarrier<PIPE_ALL>(); All<Mul, Add<float, true>, Sqrt, Tan<float, false>>::Run(t, other);\n"
        "  PipeBarrier<PIPE_ALL>(); DataCopy(to, other, 64); }\n"
    )
    x = np.random.default_rng(3).uniform(0.1, 1, 128).astype(np.float32)
    y = kernel(source=source, optimise=False).run(x, inout(np.zeros(64, np.float32)))["y"]
    a, b = x.reshape(2, 64).astype(np.float64)
    # Three roundings of float before the tangent, whose slope is below 8 here.
    assert np.allclose(y, np.tan(np.sqrt(a * b + b)), rtol=0, atol=8 * 4 * 2.0**-23)
