"""``launch``: real kernels on the twin, isolated and in process, give the same."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gn_tutorial as gnt
import gn_tutorial.runtime.launch as launch_module
from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import build_kernel
from gn_tutorial.errors import ArgumentError, GntError, KernelCrash, KernelFault, KernelTimeout
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import FLOAT_POISON, LaunchArg, LaunchRequest

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "kernels" / "copy" / "copy.cpp"

both_ways = pytest.mark.parametrize("isolated", [True, False], ids=["isolated", "in process"])

# The element that each block works on is its own number; `Work` is what a test puts in.
FRAME = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void f(GM_ADDR x, GM_ADDR y) {{
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  AscendC::GlobalTensor<float> xGm, yGm;
  pipe.InitBuffer(buffer, 64);
  xGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x));
  yGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y));
  AscendC::LocalTensor<float> tile = buffer.Get<float>();
  const int64_t block = AscendC::GetBlockIdx();
  {work}
}}
"""
WORK_LINE = 11


def arguments(size: int = 64) -> list[LaunchArg]:
    x = np.arange(size, dtype=np.float32)
    return [LaunchArg("x", ArgKind.TENSOR, Role.IN, x), LaunchArg("y", ArgKind.TENSOR, Role.OUT, np.empty_like(x))]


def kernel_file(folder: Path, work: str) -> Path:
    path = folder / "f.cpp"
    path.write_text(FRAME.format(work=work))
    assert path.read_text().splitlines()[WORK_LINE - 1].strip() == work
    return path


def built(path: Path, *, observed: bool = True) -> Path:
    """Build the library of such a file; the level of optimisation does not change what a launch finds."""
    return build_kernel(path, observed=observed, optimise="little").library


@both_ways
@pytest.mark.parametrize("observed", [True, False])
def test_a_kernel_runs(isolated: bool, observed: bool) -> None:
    args = [*arguments(1000), LaunchArg("n", ArgKind.VALUE, Role.IN, np.uint32(1000).tobytes())]
    library = build_kernel(COPY, observed=observed).library
    launched = launch(library, LaunchRequest(entry="copy_kernel", args=args, blocks=3, isolated=isolated))
    np.testing.assert_array_equal(launched.arrays["y"], args[0].data)
    assert launched.observed is observed
    assert launched.tally.bytes_in == (4000 if observed else 0)
    assert launched.seconds > 0


@both_ways
def test_what_no_block_writes_stays_poison(isolated: bool, tmp_path: Path) -> None:
    # Bare: with checks the launch fails for what was not written.
    library = built(kernel_file(tmp_path, "yGm.SetValue(block, 1.0f);"), observed=False)
    y = launch(library, LaunchRequest(entry="f", args=arguments(), blocks=4, isolated=isolated)).arrays["y"]
    assert y[:4].tolist() == [1, 1, 1, 1]
    assert (y[4:].view(np.uint32) == FLOAT_POISON["float32"]).all()


@both_ways
def test_a_mistake_names_its_line_and_the_buffer(isolated: bool, tmp_path: Path) -> None:
    path = kernel_file(tmp_path, "AscendC::Duplicate(tile, 1.0f, 128);")
    with pytest.raises(KernelFault) as caught:
        launch(built(path), LaunchRequest(entry="f", args=arguments(), isolated=isolated))
    fault = caught.value
    assert [one.id for one in fault.diagnostics] == ["ub-out-of-bounds"]
    assert "Duplicate" in fault.what
    assert "buffer" in fault.what
    assert fault.where == f"{path}:{WORK_LINE}:12, block 0"
    assert f"{WORK_LINE} |   AscendC::Duplicate(tile, 1.0f, 128);" in str(fault)
    assert "pipe.InitBuffer(buffer, 64);" in str(fault)
    assert fault.hint


def test_an_endless_kernel_names_its_line_and_block(tmp_path: Path) -> None:
    path = kernel_file(tmp_path, "while (block == 2) yGm.SetValue(0, 1.0f);")
    with pytest.raises(KernelTimeout) as caught:
        launch(
            built(path),
            LaunchRequest(entry="f", args=arguments(), blocks=4, limits=Limits(seconds=0.5)),
        )
    assert f"{path}:{WORK_LINE}, block 2" in caught.value.where


def test_a_time_out_tells_what_was_found_before(tmp_path: Path) -> None:
    path = kernel_file(tmp_path, "for (uint32_t i = 3; i >= 0; --i) yGm.SetValue(i % 4, 1.0f);")
    with pytest.raises(KernelTimeout) as caught:
        launch(
            built(path),
            LaunchRequest(entry="f", args=arguments(), limits=Limits(seconds=0.5)),
        )
    assert "i is unsigned: 'i >= 0' is always true" in str(caught.value)
    assert "no unsigned number is below 0" in caught.value.hint


def test_a_crash_names_the_last_operation(tmp_path: Path) -> None:
    path = kernel_file(tmp_path, "yGm.SetValue(0, 1.0f); if (block == 1) *(volatile int*)8 = 1;")
    with pytest.raises(KernelCrash, match="null pointer") as caught:
        launch(built(path), LaunchRequest(entry="f", args=arguments(), blocks=2))
    assert f"{path}:{WORK_LINE}, block 1" in caught.value.where


@pytest.mark.parametrize("isolated", [True, False])
@pytest.mark.parametrize(
    ("body", "source", "name", "what"),
    [
        ("throw 42;", "language-exception", "kernel-exception", "no std::exception"),
        (
            "char* p = new char[size_t{1} << 50]; yGm.SetValue(0, p[block]);",
            "language-heap",
            "kernel-no-memory",
            "more memory",
        ),
    ],
)
def test_a_cpp_exception_of_the_kernel_is_told(
    tmp_path: Path, body: str, source: str, name: str, what: str, isolated: bool
) -> None:
    """Out of an in-process launch it would end Python."""
    path = kernel_file(tmp_path, body)
    with pytest.raises(KernelFault, match=what) as caught:
        launch(built(path), LaunchRequest(entry="f", args=arguments(), isolated=isolated))
    # What the source has comes first: throw and new are no words of device code.
    assert [one.id for one in caught.value.diagnostics] == [source, name]


def test_a_bare_kernel_that_leaves_its_array_is_found(tmp_path: Path) -> None:
    path = kernel_file(tmp_path, "yGm.SetValue(64 + 2000, 1.0f);")
    with pytest.raises(KernelCrash, match="outside 'y': byte 8256 of 256") as caught:
        launch(built(path, observed=False), LaunchRequest(entry="f", args=arguments()))
    assert "observed=True" in caught.value.hint
    # 32 bytes behind an array every allocation has: test_tail.py.
    path = kernel_file(tmp_path, "yGm.SetValue(72, 1.0f);")
    with pytest.raises(KernelFault, match="outside 'y': byte 288 of 256"):
        launch(
            built(path, observed=False),
            LaunchRequest(entry="f", args=arguments(96)[:1] + arguments(64)[1:]),
        )


def test_a_launch_in_process_and_one_isolated_agree_bit_for_bit(tmp_path: Path) -> None:
    work = "for (int i = block * 16; i < block * 16 + 16; ++i) yGm.SetValue(i, xGm.GetValue(i) / 3.0f);"
    library = built(kernel_file(tmp_path, work))
    first, second = (
        launch(library, LaunchRequest(entry="f", args=arguments(), blocks=4, isolated=way)).arrays["y"]
        for way in (True, False)
    )
    assert first.tobytes() == second.tobytes()


def test_the_launcher_is_built_again_after_the_cache_was_cleared() -> None:
    args = [*arguments(), LaunchArg("n", ArgKind.VALUE, Role.IN, np.uint32(64).tobytes())]
    library = build_kernel(COPY).library
    launch(library, LaunchRequest(entry="copy_kernel", args=args))
    launch_module._LAUNCHER.path().unlink()
    launched = launch(library, LaunchRequest(entry="copy_kernel", args=args))
    np.testing.assert_array_equal(launched.arrays["y"], args[0].data)


@pytest.mark.parametrize("blocks", [0, -1, 65536])
def test_a_number_of_blocks_that_cannot_be(blocks: int) -> None:
    with pytest.raises(ArgumentError, match=f"not {blocks}"):
        LaunchRequest(entry="f", args=[], blocks=blocks)


@pytest.mark.parametrize("key", [-1, 1 << 64])
def test_a_tiling_key_that_is_no_64_bits(key: int) -> None:
    with pytest.raises(ArgumentError, match=f"not {key}"):
        LaunchRequest(entry="f", args=[], tiling_key=key)


def test_a_wrong_request_is_refused_before_anything_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    copy = gnt.kernel(COPY)
    monkeypatch.setattr(copy, "build", lambda observed: pytest.fail("compiled"))
    with pytest.raises(ArgumentError, match="'blocks'"):
        copy.run(np.zeros(8, np.float32), gnt.out((8,)), 8, blocks=0)


def test_arguments_that_cannot_be_passed() -> None:
    with pytest.raises(ArgumentError, match="'x' is not C-contiguous"):
        LaunchArg("x", ArgKind.TENSOR, Role.IN, np.zeros((4, 4), np.float32).T)
    with pytest.raises(ArgumentError, match="'y' is written by the kernel"):
        LaunchArg("y", ArgKind.TENSOR, Role.OUT, b"1234")


# Options and limits.


def test_the_default_options_are_zero() -> None:
    assert not any(bytes(TwinOptions().to_abi()))


def test_options_become_numbers() -> None:
    chosen = TwinOptions(half_tree="float", axpy_fused=True, empty_deque="stale").to_abi()
    assert (chosen.half_tree, chosen.axpy_fused, chosen.empty_deque, chosen.half_overflow) == (1, 1, 1, 0)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ({"half_overflow": "clamp"}, "half_overflow='infinity' or 'saturate'"),
        ({"axpy_fused": 1}, "axpy_fused=False or True"),
        ({"reduce_lanes": None}, "reduce_lanes='adjacent' or 'halves'"),
        ({"cores": -1}, "the chip's vector cores, or 0 for the default chip's"),
        ({"block_order": -1}, "0 for ascending, or a seed below 2**32"),
        ({"block_order": True}, "0 for ascending, or a seed below 2**32"),
    ],
)
def test_an_option_that_is_no_choice_is_quoted(wrong: dict[str, object], hint: str) -> None:
    with pytest.raises(ArgumentError, match=repr(next(iter(wrong.values())))) as caught:
        TwinOptions(**wrong)
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    "wrong",
    [
        {"seconds": 0},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
        {"seconds": "60"},
        {"memory_bytes": 1.5e9},
        {"memory_bytes": 1 << 20},
        {"memory_bytes": True},
        {"printed_bytes": -1},
    ],
)
def test_a_limit_that_cannot_be_is_quoted(wrong: dict[str, object]) -> None:
    with pytest.raises(ArgumentError, match=str(next(iter(wrong.values())))) as caught:
        Limits(**wrong)
    assert caught.value.hint


def test_a_launch_ends_within_its_limit_even_in_a_program_that_prints_the_error(tmp_path: Path) -> None:
    """As a learner sees it: one message, no traceback of the package's insides."""
    path = kernel_file(tmp_path, "while (true) {}")
    script = f"""
import sys, numpy as np
from pathlib import Path
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import build_kernel
from gn_tutorial.errors import GntError
from gn_tutorial.abi.options import Limits
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest
x = np.zeros(64, np.float32)
args = [LaunchArg("x", ArgKind.TENSOR, Role.IN, x), LaunchArg("y", ArgKind.TENSOR, Role.OUT, x)]
try:
    request = LaunchRequest(entry="f", args=args, limits=Limits(seconds=0.3))
    launch(build_kernel(Path({str(path)!r}), optimise="little").library, request)
except GntError as error:
    print(error)
    sys.exit(error.exit_code)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == GntError.exit_code or ended.returncode == KernelTimeout.exit_code
    assert "longer than 0.3 s" in ended.stdout
    assert ended.stderr == ""
