"""Kernels found, built and run for real: the registry's, a learner's file, and a notebook cell's text."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.compiler.build import Built, build_kernel
from gn_tutorial.compiler.dependencies import Dependencies
from gn_tutorial.errors import ArgumentError, CompileError, KernelError, KernelFault, RegistryError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.operators.registry import all_kernels, load_registry
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.timing.machine import default_cores

REGISTRY = load_registry()
KERNELS = [pytest.param(op, spec, id=spec.id) for op, spec in all_kernels(REGISTRY)]

SCALE = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, TYPE factor, uint32_t n) {
  AscendC::GlobalTensor<TYPE> in, out;
  in.SetGlobalBuffer((__gm__ TYPE*)x, n);
  out.SetGlobalBuffer((__gm__ TYPE*)y, n);
  const uint32_t line = 64 / sizeof(TYPE);  // cores that share a cache line overwrite each other
  for (uint32_t at = line * AscendC::GetBlockIdx(); at < n; at += line * AscendC::GetBlockNum()) {
    for (uint32_t i = at; i < n && i < at + line; ++i) out.SetValue(i, (TYPE)((float)in.GetValue(i) * (float)factor));
  }
}
"""
TWO = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void first(GM_ADDR a) { ((__gm__ int32_t*)a)[0] += 1; }
extern "C" __global__ __aicore__ void second(GM_ADDR a) { ((__gm__ int32_t*)a)[0] += 2; }
"""


def scale(ctype: str = "float") -> Kernel:
    return kernel(source=SCALE.replace("TYPE", ctype))


# --- finding ---------------------------------------------------------------------------------------------------------


def test_package_offers_the_function_and_not_its_module() -> None:
    assert gnt.kernel is kernel
    assert gnt.kernel("copy").name == "copy/queue"
    assert gnt.__version__.count(".") >= 2


def test_unknown_name_suggests_the_closest() -> None:
    with pytest.raises(RegistryError, match="did you mean group_norm/scalar"):
        kernel("group_norm/scaler")


def test_missing_file_suggests_the_closest(tmp_path: Path) -> None:
    (tmp_path / "my_kernel.cpp").write_text(TWO)
    with pytest.raises(RegistryError) as caught:
        kernel(tmp_path / "my_kernle.cpp")
    assert str(tmp_path / "my_kernel.cpp") in caught.value.hint


@pytest.mark.parametrize("arguments", [((), {}), (("copy",), {"source": TWO})])
def test_exactly_one_of_name_and_source(arguments: tuple[tuple, dict[str, str]]) -> None:
    with pytest.raises(ArgumentError):
        kernel(*arguments[0], **arguments[1])


def test_source_text_given_as_a_name_is_noticed() -> None:
    with pytest.raises(ArgumentError) as caught:
        kernel(TWO)
    assert caught.value.hint == "kernel(source=text)"


def test_reprs_name_call_signature_and_file() -> None:
    found = kernel("group_norm/scalar")
    for text in (repr(found), found._repr_html_()):
        assert "group_norm(x, gamma=None, beta=None, *, num_groups, eps=1e-05)" in text
        assert "group_norm_scalar(GM_ADDR x, GM_ADDR gamma" in text
        assert "group_norm_1_scalar.cpp" in text


# --- registered kernels ----------------------------------------------------------------------------------------------


# A bare library is the same code without observers, at -O3: the first kernel of a few operators, all with --all.
FIRST = {op.kernels[0].id for op in list(REGISTRY.values())[::10]}


@pytest.mark.parametrize(
    ("op", "spec", "observed"),
    [pytest.param(*kernel.values, True, id=f"observed-{kernel.id}") for kernel in KERNELS]
    + [
        pytest.param(
            *kernel.values,
            False,
            id=f"bare-{kernel.id}",
            marks=[] if kernel.values[1].id in FIRST else pytest.mark.thorough,
        )
        for kernel in KERNELS
    ],
)
def test_registered_kernel_agrees_with_its_reference(op: OpSpec, spec: KernelSpec, observed: bool) -> None:
    attributes = {a.name: op.example[a.name] for a in op.attributes if a.name in op.example}
    dtype = spec.dtypes[0]  # float32 where the kernel takes it
    arrays = random_inputs.inputs(op, op.example["shape"], seed=11, dtype=dtype, attributes=attributes)
    result = kernel(spec.id)(**arrays, **attributes, observed=observed)
    assert list(result.outputs) == [output.name for output in op.outputs]
    comparison = result.compare(random_inputs.expected(op, arrays, attributes), spec.tolerance)
    assert comparison.ok, comparison
    assert (result.tally.bytes_in > 0) is observed
    assert [found.render() for found in result.diagnostics] == []


@pytest.mark.parametrize(
    ("shape", "groups"),
    [((2, 6), 3), ((1, 4, 5), 4), ((3, 4, 7, 9), 1), ((2, 6, 3, 5, 7), 2), ((1, 1, 1), 1), ((5, 32, 33), 8)],
    ids=str,
)
@pytest.mark.parametrize("blocks", [None, 1, 3])
def test_group_norm_of_any_rank_on_any_number_of_blocks(
    shape: tuple[int, ...], groups: int, blocks: int | None
) -> None:
    op = REGISTRY["group_norm"]
    arrays = random_inputs.inputs(op, shape, seed=3)
    found = kernel("group_norm/scalar")
    result = found(*arrays.values(), num_groups=groups, eps=1e-3, blocks=blocks, isolated=False)
    attributes = {"num_groups": groups, "eps": 1e-3}
    comparison = result.compare(random_inputs.expected(op, arrays, attributes), op.kernels[0].tolerance)
    assert comparison.ok, comparison
    assert result.blocks == result.tiling["usedCores"] <= (blocks or default_cores())


def test_optional_inputs_may_be_left_out_or_none() -> None:
    found = kernel("group_norm/scalar")
    x = random_inputs.inputs(REGISTRY["group_norm"], (2, 8, 9))["x"]
    plain = found(x, num_groups=2)
    same = found(x, None, beta=None, num_groups=2)
    given = found(x, np.ones(8, np.float32), np.zeros(8, np.float32), num_groups=2)
    shifted = found(x, beta=np.full(8, 2.0, np.float32), num_groups=2)
    np.testing.assert_array_equal(plain.y, same.y)
    np.testing.assert_array_equal(plain.y, given.y)
    assert np.abs(shifted.y - plain.y).min() > 1.9


def test_layout_of_an_input_does_not_matter() -> None:
    found = kernel("group_norm/scalar")
    channels_last = random_inputs.inputs(REGISTRY["group_norm"], (2, 9, 5, 8))["x"]
    view = np.moveaxis(channels_last, -1, 1)
    assert not view.flags.c_contiguous
    np.testing.assert_array_equal(found(view, num_groups=4).y, found(view.copy(), num_groups=4).y)


@pytest.mark.parametrize("isolated", [True, False], ids=["isolated", "in-process"])
def test_inputs_are_left_as_they_are(isolated: bool) -> None:
    x = random_inputs.inputs(REGISTRY["group_norm"], (2, 8, 9))["x"]
    before = x.copy()
    result = kernel("group_norm/scalar")(x, num_groups=2, isolated=isolated)
    np.testing.assert_array_equal(x, before)
    assert not np.shares_memory(result.y, x)


def test_empty_batch_gives_empty_outputs_without_a_launch() -> None:
    result = kernel("group_norm/scalar")(np.empty((0, 8, 4, 4), np.float32), num_groups=2)
    assert (result.y.shape, result.mean.shape, result.rstd.shape) == ((0, 8, 4, 4), (0, 2), (0, 2))
    assert result.blocks == 0
    assert "nothing launched" in repr(result)


def test_empty_array_is_copied_to_an_empty_array() -> None:
    assert kernel("copy")(np.empty((0, 3), np.float32)).y.shape == (0, 3)


X = np.zeros((2, 8, 4), np.float32)


@pytest.mark.parametrize(
    ("inputs", "named", "message"),
    [
        ((X,), {"num_groups": 3}, "C"),
        ((X,), {"num_groups": 0}, "num_groups"),
        ((X,), {"num_groups": 2, "eps": 0.0}, "eps"),
        ((X,), {}, "argument 'num_groups' is missing"),
        ((), {"num_groups": 2}, "argument 'x' is missing"),
        ((X.tolist(),), {"num_groups": 2}, "'x' is a list"),
        ((X.astype(np.float64),), {"num_groups": 2}, "cannot be float64"),
        ((X.astype(np.complex64),), {"num_groups": 2}, "cannot be complex64"),
        ((X.astype(np.int32),), {"num_groups": 2}, "'x' is int32; group_norm/scalar has float32"),
        ((X, np.ones(8, np.float16)), {"num_groups": 2}, "'gamma' is float16, but 'x' is float32"),
        ((X, np.ones(6, np.float32)), {"num_groups": 2}, "'gamma' has shape (6,), but C is 8"),
        ((X[0, 0],), {"num_groups": 2}, "it needs at least 2 axes"),
        ((X, None, None, 2), {}, "4 arrays for 3 inputs"),
        ((X,), {"num_groups": 2, "x": X}, "'x' is given twice"),
        ((X,), {"num_groups": 2, "gama": None}, "no argument 'gama'"),
        ((X,), {"num_groups": 2, "blocks": 0}, "'blocks' must be a whole number from 1"),
        ((X,), {"num_groups": 2, "blocks": 2.0}, "'blocks' must be a whole number from 1"),
    ],
)
def test_wrong_call_is_refused_naming_the_argument(inputs: tuple, named: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        kernel("group_norm/scalar")(*inputs, **named)
    assert message in caught.value.what


def test_tiling_of_a_call_can_be_read_without_a_launch() -> None:
    tiling = kernel("group_norm/scalar").tiling(X, num_groups=2, blocks=3)
    assert 1 <= tiling["usedCores"] <= 3
    with pytest.raises(ArgumentError, match="no tiling struct"):
        kernel("copy").tiling(X)


def test_registry_and_source_must_name_the_same_parameters(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    op = REGISTRY["copy"]
    (folder / "op.toml").write_text((op.folder / "op.toml").read_text())
    source = op.kernels[0].file.read_text()
    start = source.index("copy_kernel(")
    head, tail = source[:start], source[start:]
    swapped = tail.replace("GM_ADDR x", "GM_ADDR t", 1).replace("GM_ADDR y", "GM_ADDR x", 1)
    (folder / "copy.cpp").write_text(head + swapped.replace("GM_ADDR t", "GM_ADDR y", 1))
    broken = load_registry(tmp_path)["copy"]
    with pytest.raises(RegistryError, match=r"parameters are \(y, x, n\), its op.toml says \(x, y, n\)"):
        Kernel.registered(broken, broken.kernels[0])(np.ones(8, np.float32))


# --- a learner's kernel ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ctype", "dtype"),
    [
        ("float", np.float32),
        ("half", np.float16),
        ("bfloat16_t", ml_dtypes.bfloat16),
        ("int32_t", np.int32),
        ("int16_t", np.int16),
        ("uint8_t", np.uint8),
    ],
)
def test_every_dtype_goes_in_and_comes_out(ctype: str, dtype: Any) -> None:
    x = np.arange(40).astype(dtype)
    result = scale(ctype).run(x, gnt.out(40, dtype), 2, 40, blocks=3)
    assert result.y.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(result.y.astype(np.float64), 2 * np.arange(40.0))


def test_values_in_order_by_name_and_mixed() -> None:
    x = np.arange(5, dtype=np.float32)
    found = scale()
    for result in (
        found.run(x, gnt.out(5), 3.0, 5),
        found.run(n=5, factor=3.0, y=gnt.out(5), x=x),
        found.run(x, n=5, y=gnt.out(5), factor=3.0),
    ):
        np.testing.assert_array_equal(result.y, 3 * x)


@pytest.mark.parametrize(
    ("values", "named", "message"),
    [
        ((), {"x": X}, "parameters without a value: y, factor, n"),
        ((X, gnt.out(5), 1.0, 5, 6), {}, "5 values for 4 parameters"),
        ((X,), {"x": X}, "parameter 'x' is given twice"),
        ((X, gnt.out(5), 1.0), {"m": 5}, "the kernel has no parameter 'm'"),
    ],
)
def test_wrong_values_are_refused_with_the_signature(values: tuple, named: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        scale().run(*values, **named)
    assert caught.value.what == message
    assert caught.value.where == "scale(GM_ADDR x, GM_ADDR y, float factor, uint32_t n)"


def test_inout_comes_back_and_the_callers_array_stays() -> None:
    array = np.array([5], np.int32)
    result = kernel(source=TWO).run(gnt.inout(array), entry="second")
    assert (result.a[0], array[0]) == (7, 5)


def test_several_entries_need_a_choice() -> None:
    found = kernel(source=TWO)
    with pytest.raises(ArgumentError, match="entry= one of first, second"):
        found.run(gnt.out(1, "int32"))
    with pytest.raises(ArgumentError, match="it has first, second"):
        found.run(gnt.out(1, "int32"), entry="third")


def test_source_without_a_kernel_says_what_one_looks_like() -> None:
    with pytest.raises(CompileError, match="__global__ __aicore__"):
        kernel(source="int main() { return 0; }").run()


def test_unregistered_kernel_is_not_called_as_an_operator() -> None:
    with pytest.raises(ArgumentError, match=r"k\.run\("):
        scale()(X)


@pytest.mark.parametrize("isolated", [True, False], ids=["isolated", "in-process"])
def test_edited_file_is_built_again(tmp_path: Path, isolated: bool) -> None:
    path = tmp_path / "mine.cpp"
    path.write_text(SCALE.replace("TYPE", "float"))
    found = kernel(path)
    x = np.arange(4, dtype=np.float32)
    assert found.run(x, gnt.out(4), 2.0, 4, isolated=isolated).y[1] == 2.0
    time.sleep(0.02)  # file times may be as coarse as the kernel's clock tick
    path.write_text(SCALE.replace("TYPE", "float").replace("* (float)factor", "+ (float)factor"))
    assert found.run(x, gnt.out(4), 2.0, 4, isolated=isolated).y[1] == 3.0


def test_a_second_isolated_launch_looks_at_all_that_is_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, header = tmp_path / "op" / "mine.cpp", tmp_path / "common" / "by.h"
    for one in (path, header):
        one.parent.mkdir()
    path.write_text(
        '#include "../common/by.h"\n' + SCALE.replace("TYPE", "float").replace("(float)factor)", "(float)factor BY)")
    )
    header.write_text("#define BY * 2\n")
    found, x = kernel(path, optimise="little"), np.arange(4, dtype=np.float32)
    looked: list[object] = []

    def build(*source: object, **how: Any) -> Built:
        looked.append(source)
        return build_kernel(*source, **how)

    monkeypatch.setattr("gn_tutorial.operators.source_build.build_kernel", build)
    monkeypatch.setattr("gn_tutorial.operators.source_build._TRUSTED", 1000.0)
    first, second = (found.run(x, gnt.out(4), 2.0, 4, blocks=1, observed=False) for _ in range(2))
    assert (first.y[1], second.y[1], len(looked)) == (4.0, 4.0, 1)
    assert first.compile_seconds > second.compile_seconds == 0
    header.write_text("#define BY * 3\n")
    assert found.run(x, gnt.out(4), 2.0, 4, blocks=1, observed=False).y[1] == 6.0
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path / "cache"))
    assert found.run(x, gnt.out(4), 2.0, 4, blocks=1, observed=False).y[1] == 6.0
    assert len(looked) == 3
    shutil.rmtree(tmp_path / "cache")
    assert found.run(x, gnt.out(4), 2.0, 4, blocks=1, observed=False).y[1] == 6.0
    monkeypatch.setattr("gn_tutorial.operators.source_build._TRUSTED", 0.0)
    for builds, unchanged in ((4, True), (5, False)):  # all of its files are looked at, and no more if none changed
        monkeypatch.setattr(Dependencies, "unchanged", lambda _, answer=unchanged: answer)
        assert found.run(x, gnt.out(4), 2.0, 4, blocks=1, observed=False).y[1] == 6.0
        assert len(looked) == builds


def test_kernels_of_one_source_share_what_was_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, header, x = tmp_path / "op" / "mine.cpp", tmp_path / "by.h", np.arange(4, dtype=np.float32)
    path.parent.mkdir()
    path.write_text(
        '#include "../by.h"\n' + SCALE.replace("TYPE", "float").replace("(float)factor)", "(float)factor BY)")
    )
    looked: list[object] = []

    def build(*source: object, **how: Any) -> Built:
        looked.append(source)
        return build_kernel(*source, **how)

    def run(isolated: bool = True, **how: Any) -> float:
        return kernel(path, **how).run(x, gnt.out(4), 2.0, 4, blocks=1, observed=False, isolated=isolated).y[1]

    monkeypatch.setattr("gn_tutorial.operators.source_build.build_kernel", build)
    monkeypatch.setattr("gn_tutorial.operators.source_build._TRUSTED", 1000.0)
    header.write_text("#define BY * 2\n")
    assert (run(), run(), run(isolated=False), len(looked)) == (4.0, 4.0, 4.0, 1)
    header.write_text("#define BY * 3\n")
    assert (run(isolated=False), len(looked)) == (6.0, 2)  # also where the first launch is one inside this process
    assert (run(defines=["ANY=1"]), len(looked)) == (6.0, 3)


# --- how many blocks -------------------------------------------------------------------------------------------------


def test_a_file_runs_on_all_cores_of_the_default_chip_and_source_text_on_one(tmp_path: Path) -> None:
    path, text, x = tmp_path / "mine.cpp", SCALE.replace("TYPE", "float"), np.arange(1000, dtype=np.float32)
    path.write_text(text)
    for found, blocks in ((kernel(path), default_cores()), (kernel(source=text), 1)):
        result = found.run(x, gnt.out(1000), 2.0, 1000)
        assert result.blocks == blocks
        np.testing.assert_array_equal(result.y, 2 * x)
        assert found.run(x, gnt.out(1000), 2.0, 1000, blocks=3).blocks == 3


def test_a_registered_kernel_without_a_tiling_struct_runs_on_all_cores() -> None:
    x = np.arange(5, dtype=np.float32)
    result = kernel("copy")(x)
    assert result.blocks == default_cores()
    np.testing.assert_array_equal(result.y, x)
    assert kernel("copy")(x, blocks=2).blocks == 2


ONE_BLOCK = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void first(GM_ADDR x, GM_ADDR y) {
  AscendC::GlobalTensor<float> in, out;
  in.SetGlobalBuffer((__gm__ float*)x, 1);
  out.SetGlobalBuffer((__gm__ float*)y, 1);
  out.SetValue(0, in.GetValue(0));
}
"""


def test_a_file_for_one_block_says_how_to_launch_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.cpp"
    path.write_text(ONE_BLOCK)
    with pytest.raises(KernelFault, match=r"blocks=1 \(gnt run and profile: --blocks 1\)") as caught:
        kernel(path).run(np.ones(1, np.float32), gnt.out(1))
    assert caught.value.diagnostics[0].id == "race-blocks"
    assert kernel(path).run(np.ones(1, np.float32), gnt.out(1), blocks=1).y[0] == 1


def test_compile_error_names_the_learners_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.cpp"
    path.write_text(SCALE.replace("TYPE", "float").replace("GetBlockNum", "GetBlokNum"))
    with pytest.raises(CompileError) as caught:
        kernel(path).build()
    assert "mine.cpp:7" in str(caught.value)


OPTIONAL = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR bias, GM_ADDR mask, GM_ADDR y, int32_t reads) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 32);
  LocalTensor<float> t = buffer.Get<float>();
  GlobalTensor<float> in, extra, unused, out;
  in.SetGlobalBuffer((__gm__ float*)x);
  extra.SetGlobalBuffer((__gm__ float*)bias, 8);
  unused.SetGlobalBuffer(nullptr);
  out.SetGlobalBuffer((__gm__ float*)y);
  if (reads == 1) {
    DataCopy(t, extra[0], 8);
  } else {
    DataCopy(t, in, 8);
  }
  if (reads == 2) t.SetValue(0, *(__gm__ float*)bias);
  PipeBarrier<PIPE_ALL>();
  if (bias == nullptr) Adds(t, t, 1.0f, 8);
  if (mask == nullptr && extra.GetPhyAddr() == nullptr) Muls(t, t, 2.0f, 8);
  PipeBarrier<PIPE_ALL>();
  DataCopy(out, t, 8);
}
"""


@pytest.mark.parametrize("isolated", [True, False])
def test_an_argument_that_is_left_out_is_a_null_pointer(isolated: bool) -> None:
    x, y, made = np.arange(8, dtype=np.float32), gnt.out(8), kernel(source=OPTIONAL, optimise="little")
    assert np.array_equal(made.run(x, None, None, y, 0, isolated=isolated)["y"], (x + 1) * 2)
    assert np.array_equal(made.run(x, x[::-1].copy(), None, y, 1, isolated=isolated)["y"], x[::-1])
    with pytest.raises(KernelFault) as caught:
        made.run(x, None, None, y, 1, isolated=isolated)
    assert caught.value.diagnostics[0].id == "gm-unknown-address"
    if isolated:
        with pytest.raises(KernelError):  # read through the pointer itself: a crash, of its own process only
            made.run(x, None, None, y, 2)
