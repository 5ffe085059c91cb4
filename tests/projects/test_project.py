"""Operator projects as they stand: their own tiling, their kernel, what is amiss in copies with one edit."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.trace import Tracing
from gn_tutorial.errors import ArgumentError, CompileError, KernelFault, RegistryError
from gn_tutorial.projects.host_call import HostError
from gn_tutorial.projects.project import Project

PROJECTS = Path(__file__).resolve().parents[1] / "programs" / "projects"
SCALE, BIAS, ROWS = (PROJECTS / name for name in ("scale_shift", "row_bias", "row_max"))
Edited = Callable[..., Path]


@pytest.fixture
def edited(copy_of: Callable[[Path], Path]) -> Edited:
    """A copy of a project with one text in place of another."""

    def make(project: Path, file: str, old: str, new: str) -> Path:
        folder = copy_of(project)
        text = (folder / file).read_text()
        assert text.count(old) == 1, old
        (folder / file).write_text(text.replace(old, new))
        return folder

    return make


def data(shape: tuple[int, ...], dtype: str = "float32", seed: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype == "int32":
        return rng.integers(-9000, 9000, shape, dtype=np.int32)
    return (rng.standard_normal(shape) * 1.5 + 0.4).astype(dtype)


# --- the layouts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "most"), [("float16", 4e-3), ("float32", 1e-6)])
@pytest.mark.parametrize("shape", [(1,), (7, 33), (3, 1, 4099)])
def test_a_project_of_macros_runs(dtype: str, most: float, shape: tuple[int, ...]) -> None:
    x = data(shape, dtype)
    result = gnt.project(SCALE)(x, alpha=-1.25)
    np.testing.assert_allclose(result.y.astype(np.float64), -1.25 * x.astype(np.float64) + 0.5, atol=4 * most)
    assert result.y.dtype == x.dtype


def test_a_project_in_use_outlives_its_libraries_in_the_cache() -> None:
    project, x = gnt.project(SCALE), data((7, 33))
    first = project(x, alpha=-1.25).y
    project._library.path().unlink()
    np.testing.assert_array_equal(project(x, alpha=-1.25).y, first)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("with_bias", [False, True])
def test_a_kernel_template_is_chosen_by_its_key(dtype: str, with_bias: bool) -> None:
    x, bias = data((5, 3, 29), dtype), data((29,), dtype, 6) if with_bias else None
    found = gnt.project(BIAS)
    plan = found.tiling(x, bias)
    name = {"float32": "float", "int32": "int32_t"}[dtype]
    assert plan.template == f"{name}, {int(with_bias)}"
    assert plan.key == {"float32": 0, "int32": 3}[dtype] + (int(with_bias) << 8)
    expected = x.astype(np.float64) + (0 if bias is None else bias.astype(np.float64))
    np.testing.assert_allclose(found(x, bias).y, expected, rtol=1e-6)


@pytest.mark.parametrize(("inner", "key"), [(13, 10), (150, 20)])
def test_functions_in_files_of_their_own(inner: int, key: int) -> None:
    """The layout of operator repositories: definition, inference and tiling apart, and compile information."""
    x = data((4, 9, inner))
    found = gnt.project(ROWS)
    assert found.tiling(x).key == key
    np.testing.assert_array_equal(found(x).y, x.max(axis=-1))


@pytest.mark.thorough
def test_helpers_and_a_neighbour_s_sources_are_linked(tmp_path: Path) -> None:
    """A source that registers nothing, and one outside the folder whose header is included: operator repositories."""
    host, shared = tmp_path / "reduce" / "row_max" / "op_host", tmp_path / "reduce" / "shared" / "op_host"
    shutil.copytree(ROWS, host.parent)
    shared.mkdir(parents=True)
    (host / "share.cpp").write_text(
        "unsigned Share(unsigned rows, unsigned cores) { return (rows + cores - 1) / cores; }"
    )
    (shared / "rows.h").write_text("#pragma once\nlong RowsOf(long elements, long inner);\n")
    (shared / "rows.cpp").write_text(
        '#include "rows.h"\nlong RowsOf(long elements, long inner) { return elements / inner; }'
    )
    tiling = host / "row_max_tiling.cpp"
    text = tiling.read_text()
    for old, new in {
        '#include "log/log.h"': '#include "log/log.h"\n#include "reduce/shared/op_host/rows.h"\n'
        '#include "op_host/tiling_base_util.h"\n#include "util/platform_util.h"\nunsigned Share(unsigned, unsigned);',
        "= x.GetShapeSize() / inner": "= RowsOf(Ops::Base::EnsureNotScalar(x).GetShapeSize(), inner)",
        "(rows + info->cores - 1) / info->cores": "Share(rows, Ops::Base::GetAivCoreNum(context))",
    }.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    tiling.write_text(text)
    x = data((5, 3, 70))
    np.testing.assert_array_equal(gnt.project(host.parent)(x).y, x.max(-1))


def test_the_struct_is_shown_by_field() -> None:
    plan = gnt.project(BIAS).tiling(data((5, 3, 29)), None, scale=0.75)
    assert plan.fields == {
        "lengths": [5, 3, 29],
        "split.rowsPerBlock": 1,
        "split.rows": 15,
        "inner": 29,
        "padded": 32,
        "scale": 0.75,
    }
    assert (plan.blocks, plan.workspace, len(plan.data)) == (15, 16 << 20, 48)
    plan = gnt.project(ROWS).tiling(data((6, 40)))
    assert plan.fields == {"inner": 40, "part.rows": 6, "part.perBlock": 1, "shape": [6, 40]}


def test_tiling_is_told_of_the_chip() -> None:
    x = data((1000, 64))
    blocks = {soc: gnt.project(SCALE, soc=soc).tiling(x).blocks for soc in ("910b2", "Ascend910B4", "310b4")}
    assert blocks == {"910b2": 48, "Ascend910B4": 40, "310b4": 1}
    with pytest.raises(ArgumentError, match="there is no chip '910x'"):
        gnt.project(SCALE, soc="910x")


@pytest.mark.parametrize(("soc", "ub"), [("910b2", 196608 - 256), ("310b4", 262144)])
def test_the_size_of_the_unified_buffer_is_the_framework_s(edited: Edited, soc: str, ub: int) -> None:
    """Of Ascend910B the toolkit keeps 256 bytes for itself; of others it does not."""
    folder = edited(SCALE, "op_host/scale_shift.cpp", "tiling.set_length(length)", "tiling.set_length(ubBytes)")
    assert gnt.project(folder, soc=soc).tiling(data((4,)))["length"] == ub


# --- what is amiss ---------------------------------------------------------------------------------------------------

TILING, STRUCT = "op_host/scale_shift.cpp", "op_host/scale_shift_tiling.h"
#: Mistakes that do not hide one another, together in one project: building its host files is what takes the time.
NOTES = (
    {
        "field-never-set": ("tiling.set_beta(*context->GetAttrs()->GetAttrPointer<float>(1));", ""),
        "block-dim-unset": ("context->SetBlockDim(blocks);", "(void)blocks;"),
    },
    {
        "block-dim-zero": ("context->SetBlockDim(blocks);", "context->SetBlockDim(0 * blocks);"),
        "tiling-data-too-long": ("SetDataSize(tiling.GetDataSize())", "SetDataSize(1 << 20)"),
    },
    {
        "block-dim-constant": ("context->SetBlockDim(blocks);", "context->SetBlockDim(8);"),
        "workspace-unset": ("workspaces[0] = 0;", "(void)workspaces;"),
        "attribute-type": ("GetAttrPointer<float>(1)", "GetAttrPointer<int64_t>(1)"),
    },
)


def test_a_right_project_has_no_notes() -> None:
    for path, values in ((SCALE, (data((5, 33)),)), (BIAS, (data((5, 33)), data((33,)))), (ROWS, (data((5, 33)),))):
        assert gnt.project(path).tiling(*values).notes == (), path.name


@pytest.mark.parametrize("mistakes", NOTES, ids=lambda one: "+".join(one))
def test_what_works_by_luck_is_said(edited: Edited, mistakes: dict[str, tuple[str, str]]) -> None:
    folder = edited(SCALE, TILING, *next(iter(mistakes.values())))
    for old, new in list(mistakes.values())[1:]:
        text = (folder / TILING).read_text()
        assert text.count(old) == 1, old
        (folder / TILING).write_text(text.replace(old, new))
    found = gnt.project(folder)
    plan = found.tiling(data((5, 33)))
    assert sorted(note.rule for note in plan.notes) == sorted(mistakes)
    for note in plan.notes:
        assert note.where.split(":")[0].endswith((".cpp", ".h"))
    error = next((note for note in plan.notes if note.severity == "error"), None)
    if error is not None:
        with pytest.raises(HostError, match=re.escape(error.what[:12])):
            found(data((5, 33)))


NOT_ARRIVED = {
    "SaveToBuffer": (TILING, "tiling-data-missing", "nothing writes the 24 bytes that SetDataSize counts"),
    "SetDataSize": (TILING, "tiling-data-missing", "SetDataSize is never called"),
    "REGISTER": (STRUCT, "tiling-class-of-another", "names ScaleShiftCustom, and the operator is ScaleShift"),
}


@pytest.mark.parametrize("mistake", NOT_ARRIVED)
def test_tiling_data_that_do_not_arrive_are_named_before_the_kernel_is_built(edited: Edited, mistake: str) -> None:
    file, rule, words = NOT_ARRIVED[mistake]
    text = (SCALE / file).read_text()
    old = re.search(rf"[^;\n]*{mistake}[^;\n]*", text)[0]
    new = old.replace("(ScaleShift,", "(ScaleShiftCustom,") if mistake == "REGISTER" else ""
    found, x = gnt.project(edited(SCALE, file, old, new)), data((5, 33))
    (note,) = found.tiling(x).notes
    assert (note.rule, note.severity) == (rule, "error")
    assert words in note.what
    with pytest.raises(HostError, match=re.escape(note.what)):
        found(x)


@pytest.mark.thorough
def test_a_key_written_as_a_number_chooses_its_instance(edited: Edited) -> None:
    key = "context->SetTilingKey(type | static_cast<uint64_t>(hasBias) << 8);"
    host = next((BIAS / "op_host").glob("*.cpp")).relative_to(BIAS).as_posix()
    folder = edited(BIAS, host, "ASCENDC_TPL_SEL_PARAM(context, type, static_cast<uint32_t>(hasBias));", key)
    assert gnt.project(folder).tiling(data((5, 33)), data((33,))).template == "float, 1"


def test_a_key_without_an_instance_is_refused(edited: Edited) -> None:
    folder = edited(
        BIAS,
        "op_kernel/tiling_key_row_bias.h",
        "ASCENDC_TPL_BOOL_SEL(HAS_BIAS, 0, 1)",
        "ASCENDC_TPL_BOOL_SEL(HAS_BIAS, 0)",
    )
    with pytest.raises(HostError, match="no ASCENDC_TPL_ARGS_SEL has these values"):
        gnt.project(folder)(data((5, 33)), data((33,)))


# --- what cannot work ------------------------------------------------------------------------------------------------


CRASHES = {
    "tiling.set_length(context->GetInputShape(1)->GetStorageShape().GetDim(0));": "null pointer",
    "tiling.set_length(length / (length - 2));": "divided an integer by zero",
    "while (length != 1) { }": "longer than",
    'system("true");': "started",
    "abort();": "abort",
}


@pytest.mark.thorough
def test_a_crash_of_tiling_names_its_line(edited: Edited, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gn_tutorial.projects.host_call._SECONDS", 1.0)
    lines = [f"if (length == {one}) {{\n    {text}\n  }}" for one, text in enumerate(CRASHES, 1)]
    folder = edited(SCALE, TILING, "tiling.set_length(length);", "\n  ".join(["tiling.set_length(length);", *lines]))
    text = (folder / TILING).read_text().splitlines()
    found = gnt.project(folder)
    assert found.tiling(data((9,)))["length"] == 9
    for length, (wrong, what) in enumerate(CRASHES.items(), 1):
        with pytest.raises(HostError, match=what) as caught:
            found.tiling(data((length,)))
        if what != "started":  # the filter stops it before a handler of ours runs
            line = next(number for number, one in enumerate(text, 1) if wrong in one)
            assert caught.value.where == f"{folder / TILING}:{line}"


def test_a_tiling_function_that_refuses_says_why() -> None:
    with pytest.raises(HostError, match=r"returned 0xffffffff: RowMax: x has 1 axes, at least 2 are needed"):
        gnt.project(ROWS).tiling(data((33,)))


def test_errors_of_host_files_are_at_their_lines(edited: Edited) -> None:
    folder = edited(SCALE, TILING, "context->SetBlockDim(blocks);", "context->SetBlockDims(blocks);")
    with pytest.raises(CompileError, match="SetBlockDims") as caught:
        gnt.project(folder).tiling(data((5, 33)))
    assert "scale_shift.cpp:" in str(caught.value)


def test_a_kernel_s_mistake_is_found_at_its_line(edited: Edited) -> None:
    folder = edited(
        SCALE,
        "op_kernel/scale_shift.cpp",
        "    outQueue.EnQue(y);\n    inQueue.FreeTensor(x);",
        "    inQueue.FreeTensor(x);",
    )
    with pytest.raises(KernelFault, match=r"scale_shift.cpp:\d+"):
        gnt.project(folder)(data((5, 33)))


@pytest.mark.thorough
def test_a_declared_size_is_a_promise_that_no_device_looks_at(edited: Edited) -> None:
    """The whole of x is there: a kernel that declares too little of it runs on a device, and gets a warning here."""
    old = "xGm.SetGlobalBuffer((__gm__ DTYPE_X*)x + start, mine);"
    folder = edited(SCALE, "op_kernel/scale_shift.cpp", old, old.replace("mine);", "mine / 2);"))
    x = data((5, 333))
    result = gnt.project(folder)(x)
    np.testing.assert_allclose(result.y, 2.0 * x.astype(np.float64) + 0.5, atol=1e-6)
    assert {(one.id, one.severity) for one in result.diagnostics} == {("gm-beyond-declared-size", "warning")}
    with pytest.raises(KernelFault, match="past the 20 elements that SetGlobalBuffer declared"):
        gnt.project(folder)(x, options=TwinOptions(errors=("gm-beyond-declared-size",)))


def test_a_block_without_work_may_make_a_buffer_of_no_bytes(edited: Edited) -> None:
    """A tiling for all cores makes blocks beyond the data; only a use of their empty buffers would be a mistake."""
    old = "pipe.InitBuffer(outQueue, 2, tile * sizeof(DTYPE_Y));"
    folder = edited(SCALE, "op_kernel/scale_shift.cpp", old, old.replace("tile *", "(mine == 0 ? 0 : tile) *"))
    x = data((77,))
    result = gnt.project(folder)(x, blocks=20)
    np.testing.assert_allclose(result.y, 2.0 * x.astype(np.float64) + 0.5, atol=1e-6)
    assert {(one.id, one.severity) for one in result.diagnostics} == {("init-buffer-zero", "warning")}
    with pytest.raises(KernelFault, match="buffers of 0 bytes reserves no memory"):
        gnt.project(folder)(x, blocks=20, options=TwinOptions(errors=("init-buffer-zero",)))


def test_more_blocks_than_the_chip_has_cores_cannot_wait_for_each_other(edited: Edited) -> None:
    old = "pipe.InitBuffer(outQueue, 2, tile * sizeof(DTYPE_Y));"
    folder = edited(SCALE, "op_kernel/scale_shift.cpp", old, f"AscendC::SyncAll(); {old}")
    x = data((77,))
    result = gnt.project(folder, soc="910b4")(x, blocks=40)
    np.testing.assert_allclose(result.y, 2.0 * x.astype(np.float64) + 0.5, atol=1e-6)
    for soc, cores in (("910b4", 40), ("910b2", 48)):
        with pytest.raises(KernelFault, match=f"the chip has {cores} cores"):
            gnt.project(folder, soc=soc)(x, blocks=cores + 1)


def test_a_buffer_of_no_bytes_cannot_be_used(edited: Edited) -> None:
    old = "pipe.InitBuffer(outQueue, 2, tile * sizeof(DTYPE_Y));"
    folder = edited(SCALE, "op_kernel/scale_shift.cpp", old, old.replace("tile *", "0 *"))
    with pytest.raises(KernelFault, match="the tensor has 0 bytes"):
        gnt.project(folder)(data((77,)))


def test_wrong_calls_are_refused_by_name() -> None:
    found = gnt.project(SCALE)
    x = data((5, 33))
    for values, named, words in (
        ((x, x), {}, "2 inputs for ScaleShift"),
        ((), {}, "the input 'x' is missing"),
        ((x.astype(np.int8),), {}, "does not support x int8 on ascend910b"),
        ((x,), {"gamma": 1.0}, "no input or attribute 'gamma'"),
        ((x,), {"alpha": "2"}, "'alpha' is a float, not '2'"),
        (([1.0],), {}, "not an array"),
    ):
        with pytest.raises(ArgumentError, match=words):
            found.tiling(*values, **named)


@pytest.mark.thorough
def test_folders_that_are_no_project(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="there is no folder"):
        gnt.project(tmp_path / "none")
    with pytest.raises(ArgumentError, match="is no operator project"):
        gnt.project(tmp_path)
    for name in ("scale_shift", "row_max"):
        shutil.copytree(PROJECTS / name, tmp_path / name)
    with pytest.raises(ArgumentError, match=r"has 2 operators: (RowMax, ScaleShift|ScaleShift, RowMax)"):
        gnt.project(tmp_path)
    assert gnt.project(tmp_path, op="RowMax").infer(data((5, 33))) == [("y", "float32", (5,))]
    with pytest.raises(ArgumentError, match="no operator 'Relu'"):
        gnt.project(tmp_path, op="Relu")


@pytest.mark.thorough
def test_an_operator_without_a_definition(edited: Edited) -> None:
    folder = edited(ROWS, "op_host/row_max_def.cpp", "OP_ADD(RowMax);", "")
    with pytest.raises((ArgumentError, RegistryError), match="no definition"):
        print(gnt.project(folder).definition)


def test_matrix_operators_are_named_early(edited: Edited) -> None:
    folder = edited(
        SCALE,
        "op_kernel/scale_shift.cpp",
        '#include "kernel_operator.h"',
        '#include "kernel_operator.h"\n#include "lib/matmul_intf.h"',
    )
    with pytest.raises(ArgumentError, match="matrix cores"):
        gnt.project(folder)


@pytest.mark.thorough
def test_an_output_s_shape_may_be_given(edited: Edited) -> None:
    folder = edited(SCALE, TILING, "this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);", "")
    found, x = gnt.project(folder), data((5, 33))
    with pytest.raises(ArgumentError, match="no InferShape"):
        found.tiling(x)
    np.testing.assert_allclose(found(x, out=gnt.out(x.shape)).y, 2.0 * x.astype(np.float64) + 0.5, atol=1e-6)


@pytest.mark.thorough
def test_outputs_that_follow_an_input_need_no_inference(tmp_path: Path) -> None:
    """Follow says an output's shape; the input is named self, as many of CANN's are; Jupyter kept a copy."""
    folder = tmp_path / "math" / "followed"
    shutil.copytree(SCALE, folder)
    shared = tmp_path / "common" / "inc" / "op_host" / "shared.h"  # as a repository of operators keeps it
    shared.parent.mkdir(parents=True)
    shared.write_text("constexpr uint32_t kMostTile = 4096;\n")
    host, kernel = folder / TILING, folder / "op_kernel" / "scale_shift.cpp"
    text = host.read_text().replace("this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);", "")
    names = ("platform/platform_ascendc.h", "op_host/util/shape_util.h", "runtime/tiling_context.h", "op_host/shared.h")
    text = "".join(f'#include "{name}"\n' for name in names) + text.replace(": 4096)", ": kMostTile)")
    assert "kMostTile" in text
    # A list read as a number: on the device it is some number.
    text = text.replace('Attr("beta").AttrType(OPTIONAL).Float(0.5)', 'Attr("beta").AttrType(OPTIONAL).ListInt({})')
    text = text.replace('Input("x")', 'Input("self")').replace('Output("y")', 'Output("y").Follow("self")')
    host.write_text(text)
    kernel.write_text(kernel.read_text().replace("DTYPE_X", "DTYPE_SELF"))
    kept = host.parent / ".ipynb_checkpoints"
    kept.mkdir()
    shutil.copy(host, kept / "scale_shift-checkpoint.cpp")  # a second OP_ADD, were it read
    found, x = gnt.project(folder), data((5, 33))
    assert found.infer(self=x) == [("y", "float32", (5, 33))]
    plan = found.tiling(self=x)
    assert [note.rule for note in plan.notes] == ["attribute-type"]
    expected = 2.0 * x.astype(np.float64) + float(plan["beta"])
    np.testing.assert_allclose(found(self=x).y, expected, atol=1e-6)


@pytest.mark.thorough
def test_an_operator_without_outputs_writes_its_input(tmp_path: Path) -> None:
    """The InferShape of its template, which writes output 0, is not called: there is nothing to infer."""
    folder = tmp_path / "written"
    shutil.copytree(SCALE, folder)
    host, kernel = folder / TILING, folder / "op_kernel" / "scale_shift.cpp"
    text = host.read_text()
    begin = text.index('    this->Output("y")')
    host.write_text(text[:begin] + text[text.index('    this->Attr("alpha")') :])
    text = kernel.read_text().replace("GM_ADDR x, GM_ADDR y, GM_ADDR workspace", "GM_ADDR x, GM_ADDR workspace")
    kernel.write_text(text.replace("op.Init(x, y,", "op.Init(x, x,").replace("DTYPE_Y", "DTYPE_X"))
    x = data((5, 33))
    result = gnt.project(folder)(x)
    np.testing.assert_allclose(result.x, 2.0 * x.astype(np.float64) + 0.5, atol=1e-6)
    assert not result.diagnostics


@pytest.mark.thorough
def test_an_output_in_place_has_a_parameter_of_its_own(tmp_path: Path) -> None:
    """An output with an input's name is the same memory, x_ref; text that ``#if 0`` disables is not read."""
    folder = tmp_path / "in_place"
    shutil.copytree(SCALE, folder)
    host, kernel = folder / TILING, folder / "op_kernel" / "scale_shift.cpp"
    host.write_text(host.read_text().replace('Output("y")', 'Output("x")'))
    text = kernel.read_text().replace("GM_ADDR x, GM_ADDR y, GM_ADDR work", "GM_ADDR x, GM_ADDR ref, GM_ADDR work")
    kernel.write_text(text.replace("op.Init(x, y,", "op.Init(x, ref,").replace("DTYPE_Y", "DTYPE_X_REF"))
    header = folder / "op_host" / "scale_shift_tiling.h"
    old = "#if 0\nBEGIN_TILING_DATA_DEF(ScaleShiftTilingData)\nTILING_DATA_FIELD_DEF(uint32_t, size);\n"
    first = "namespace optiling {\n"
    assert first in header.read_text()
    header.write_text(header.read_text().replace(first, f"{first}{old}END_TILING_DATA_DEF;\n#endif\n", 1))
    x = data((5, 33))
    found, expected = gnt.project(folder), 2.0 * x.astype(np.float64) + 0.5
    for isolated in (True, False):
        result = found(x, isolated=isolated)
        np.testing.assert_allclose(result.x, expected, atol=1e-6)
        assert list(result.outputs) == ["x"]
        assert not result.diagnostics
    assert found(x, tracing=Tracing(blocks=1)).trace is not None


def test_a_project_is_profiled_on_all_cores_of_the_chip() -> None:
    x = data((640, 64))
    made = gnt.profile(gnt.project(SCALE), x, machine="910B4")
    assert (made.blocks, made.machine.name) == (40, "Ascend 910B4")
    assert made.microseconds > 0
    assert isinstance(gnt.project(SCALE), Project)
    assert gnt.project(SCALE)(x, tracing=Tracing(blocks=1)).trace is not None
