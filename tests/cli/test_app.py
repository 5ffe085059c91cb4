"""The command line as a user meets it: what is printed, in which form, with which exit code."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from gn_tutorial.cli import app
from gn_tutorial.operators import registry

MINE = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y, uint32_t n) {
  AscendC::GlobalTensor<int32_t> in, out;
  in.SetGlobalBuffer((__gm__ int32_t*)x, n);
  out.SetGlobalBuffer((__gm__ int32_t*)y, n);
  for (uint32_t i = 0; i < n; ++i) out.SetValue(i, 2 * in.GetValue(i));
  AscendC::printf("n is %u\\n", n);
}
"""


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def gnt(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run ``gnt`` with these words, through the same ``main`` as the installed command."""

    def run(*words: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["gnt", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            app.main()
        return Ran(caught.value.code or 0, *capfd.readouterr())

    return run


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.cpp"
    path.write_text(MINE)
    return path


def test_help_is_quick_because_commands_import_late() -> None:
    code = "import sys, gn_tutorial.cli; print(*(m for m in ('torch', 'matplotlib', 'rich.table') if m in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_help_and_version(gnt: Callable[..., Ran]) -> None:
    helped = gnt("--help")
    assert helped.code == 0
    for command in ("doctor", "list", "run", "show", "apis", "cache", "tour"):
        assert command in helped.out
    assert gnt("--version").out.startswith("gnt ")


def test_list_shows_every_kernel(gnt: Callable[..., Ran]) -> None:
    ids = [kernel.id for _, kernel in registry.all_kernels(registry.load_registry())]
    assert [row["kernel"] for row in gnt("list", "--json").json] == ids
    text = gnt("list").out
    assert all(name in text for name in ids)


def test_run_compares_a_registered_kernel_with_its_reference(gnt: Callable[..., Ran]) -> None:
    words = ("run", "group_norm/scalar", "--shape", "2,6,5,7", "--groups", 3, "--blocks", 2)
    ran = gnt(*words)
    assert ran.code == 0
    assert "rstd" in ran.out
    assert "(2, 6, 5, 7)" in ran.out
    facts = gnt(*words, "--json").json
    assert facts["ok"] is True
    assert facts["blocks"] == 2
    assert facts["outputs"]["mean"]["shape"] == [2, 3]
    assert 0 < facts["outputs"]["y"]["max_abs"] < 1e-3


def test_run_without_options_takes_the_example(gnt: Callable[..., Ran]) -> None:
    assert gnt("run", "add", "--json").json["shape"] == [4096]


def test_run_modes(gnt: Callable[..., Ran]) -> None:
    facts = gnt("run", "copy", "--shape", "100", "--bare", "--in-process", "--json").json
    assert (facts["ok"], facts["observed"], facts["tally"]["bytes_in"]) == (True, False, 0)


def test_seed_decides_the_input(gnt: Callable[..., Ran]) -> None:
    errors = [
        gnt("run", "group_norm/scalar", "--shape", "1,2,50", "--groups", 1, "--seed", seed, "--json").json["outputs"]
        for seed in (1, 1, 2)
    ]
    assert errors[0] == errors[1] != errors[2]


def test_wrong_kernel_gives_exit_code_1(
    gnt: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(registry.kernels_root() / "add", tmp_path / "add")
    source = tmp_path / "add" / "add.cpp"
    assert "AscendC::Add(" in source.read_text()
    source.write_text(source.read_text().replace("AscendC::Add(", "AscendC::Sub("))
    monkeypatch.setattr(registry, "kernels_root", lambda: tmp_path)
    ran = gnt("run", "add")
    assert ran.code == 1
    assert "wrong" in ran.out
    assert gnt("run", "add", "--json").json["ok"] is False


def test_run_a_learners_file(gnt: Callable[..., Ran], mine: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(5, dtype=np.int32))
    ran = gnt("run", mine, "--arg", f"x=@{tmp_path / 'x.npy'}", "--out", "y=int32[5]", "--arg", "n=5")
    assert ran.code == 0
    assert "0, 2, 4, 6, ..." in ran.out
    assert "n is 5" in ran.out
    facts = gnt("run", mine, "--arg", "x=int32[2,3]", "--out", "y=int32[2,3]", "--arg", "n=6", "--json").json
    assert facts["ok"] is None
    assert facts["outputs"]["y"] == {"dtype": "int32", "shape": [2, 3]}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("run", "group_norm/scaler"), 2, "did you mean group_norm/scalar"),
        (("run", "group_norm/scalar", "--groups", "3"), 2, "C"),
        (("run", "group_norm/scalar", "--shape", "8"), 2, "it needs at least 2 axes"),
        (("run", "group_norm/scalar", "--shape", "2,a"), 2, "'2,a' is no shape"),
        (("run", "group_norm/scalar", "--set", "eps"), 2, "--set eps: a name, '=' and a value are needed"),
        (("run", "group_norm/scalar", "--set", "epsilon=1"), 2, "has no argument 'epsilon'"),
        (("run", "group_norm/scalar", "--arg", "n=1"), 2, "--arg does not apply"),
        (("run", "group_norm/scalar", "--dtype", "float16"), 2, "'x' is float16; group_norm/scalar has float32"),
        (("run", "absent.cpp"), 2, "there is no file absent.cpp"),
        (("show", "absent.cpp"), 2, "there is no file absent.cpp"),
        (("show", "copy", "--tiling"), 2, "no tiling struct"),
        (("apis", "NoSuchApi"), 2, "no Ascend C name matches 'NoSuchApi'"),
        (("fly",), 2, "No such command"),
        (("run", "copy", "--blocks", "many"), 2, "--blocks"),
    ],
)
def test_users_mistake_is_a_message_with_a_code(
    gnt: Callable[..., Ran], words: tuple[str, ...], code: int, message: str
) -> None:
    ran = gnt(*words)
    assert ran.code == code
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--shape", "4"), "--shape does not apply, because"),
        (("--arg", "x=int32", "--out", "y=int32[5]"), "'int32' is no number"),
        (("--out", "y=5"), "'5' is no array"),
        (("--arg", "x=@absent.npy"), "cannot read the array"),
        (("--arg", "n=1", "--arg", "n=2"), "'n' is given twice"),
        (("--arg", "x=quad[5]"), "cannot be 'quad'"),
        (("--arg", "n=5"), "parameters without a value: x, y"),
    ],
)
def test_wrong_word_for_a_file_is_quoted(
    gnt: Callable[..., Ran], mine: Path, words: tuple[str, ...], message: str
) -> None:
    ran = gnt("run", mine, *words)
    assert ran.code == 2
    assert message in ran.err


def test_compile_error_has_its_own_code(gnt: Callable[..., Ran], mine: Path) -> None:
    mine.write_text(MINE.replace("SetValue", "SetValu"))
    ran = gnt("run", mine, "--arg", "x=int32[5]", "--out", "y=int32[5]", "--arg", "n=5")
    assert ran.code == 4
    assert "mine.cpp:6" in ran.err


def test_kernel_fault_has_its_own_code(gnt: Callable[..., Ran], mine: Path) -> None:
    ran = gnt("run", mine, "--arg", "x=int32[5]", "--out", "y=int32[5]", "--arg", "n=6")
    assert ran.code == 6
    assert "mine.cpp:6" in ran.err


def test_unexpected_error_keeps_its_traceback_and_says_where_to_report(
    gnt: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr(registry, "load_registry", broken)
    ran = gnt("list")
    assert ran.code == app.INTERNAL_ERROR
    assert "Traceback" in ran.err
    assert "ZeroDivisionError: a mistake of ours" in ran.err
    assert "Please report it" in ran.err


def test_show_prints_the_source(gnt: Callable[..., Ran]) -> None:
    path = registry.find_kernel("copy")[1].file
    shown = gnt("show", "copy")
    assert shown.out == f"// {path}\n{path.read_text()}"
    facts = gnt("show", "copy", "--json").json
    assert facts["entries"][0]["name"] == "copy_kernel"
    assert facts["file"] == str(path)


def test_show_tiling(gnt: Callable[..., Ran]) -> None:
    words = ("show", "group_norm/scalar", "--tiling", "--shape", "3,6,10", "--groups", 2, "--blocks", 4)
    assert "usedCores" in gnt(*words).out
    facts = gnt(*words, "--json").json
    assert facts["struct"] == "GroupNormTilingData"
    assert facts["fields"]["usedCores"] <= 4


def test_a_launch_that_fails_is_json_too(gnt: Callable[..., Ran], mine: Path) -> None:
    words = ("run", mine, "--arg", "x=int32[5]", "--out", "y=int32[5]", "--arg", "n=6")
    ran, told = gnt(*words, "--json"), gnt(*words)
    assert (told.code, told.out) == (6, "")
    assert ran.code == 6
    assert ran.err.endswith(told.err), "the message is the same; the first run also says that it compiles"
    assert f"{mine}:6:59, block 0" in told.err
    assert "\x1b" not in told.err
    facts = ran.json
    assert facts["ok"] is False
    assert facts["error"]["kind"] == "KernelFault"
    (found,) = facts["diagnostics"]
    assert {key: found[key] for key in ("id", "severity", "file", "line", "column", "buffer")} == {
        "id": "gm-out-of-bounds",
        "severity": "error",
        "file": str(mine),
        "line": 6,
        "column": 59,
        "buffer": "x",
    }
    assert gnt(*words[:-1], "n=5", "--json").json["diagnostics"] == []


def test_on_a_terminal_findings_are_in_colour(
    gnt: Callable[..., Ran], mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    words = ("run", mine, "--arg", "x=int32[5]", "--out", "y=int32[5]", "--arg", "n=6")
    plain = gnt(*words).err
    # pytest replaces sys.stderr while it captures, so the answer of isatty is that of its stand-in.
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True)
    coloured = gnt(*words).err
    assert "\x1b[1;31m" in coloured
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", coloured)
    assert shown[shown.index("gnt: GetValue") :].rstrip() == plain[plain.index("gnt: GetValue") :].rstrip()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31m" not in gnt(*words).err


def test_explain(gnt: Callable[..., Ran]) -> None:
    page = gnt("explain", "ub-out-of-bounds")
    assert page.out == (registry.kernels_root().parent / "docs/diagnostics/ub-out-of-bounds.md").read_text()
    facts = gnt("explain", "UB_out_of_bounds", "--json").json
    assert facts["family"] == "Unified Buffer"
    assert facts["page"] == page.out
    assert "Wrong numbers in the tail" in facts["symptoms"]
    listed = gnt("explain").out
    assert "The kernel hangs" in listed
    assert all(row["id"] in listed for row in gnt("explain", "--json").json)
    unknown = gnt("explain", "ub-outofbounds")
    assert (unknown.code, unknown.out) == (2, "")
    assert "did you mean ub-out-of-bounds" in unknown.err


def test_apis(gnt: Callable[..., Ran]) -> None:
    found = gnt("apis", "DataCopyPad", "--json").json
    assert found[0]["name"] == "DataCopyPad"
    assert found[0]["supported"] is True
    assert "DataCopyPad" in gnt("apis", "datacopy").out


def test_cache_is_shown_and_cleared(
    gnt: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mine: Path
) -> None:
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path / "cache"))
    assert gnt("cache", "path").out.strip() == str(tmp_path / "cache")
    assert gnt("run", mine, "--arg", "x=int32[1]", "--out", "y=int32[1]", "--arg", "n=1").code == 0
    assert gnt("cache", "info", "--json").json["entries"] > 0
    assert gnt("cache", "clear").code == 0
    assert gnt("cache", "info", "--json").json["entries"] == 0


def test_doctor_ends_well_where_kernels_run(gnt: Callable[..., Ran]) -> None:
    ran = gnt("doctor", "--json")
    assert ran.code == 0
    assert ran.json[-1]["name"] == "build and run"
    assert all(row["status"] in ("ok", "missing", "problem") for row in ran.json)


def test_doctor_fails_where_kernels_cannot_be_built(
    gnt: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GNT_CXX", "no-such-compiler")
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path))
    ran = gnt("doctor")
    assert ran.code == 1
    assert "no-such-compiler" in ran.out


def test_tour_writes_its_picture(gnt: Callable[..., Ran], tmp_path: Path) -> None:
    ran = gnt("tour", "--out", tmp_path, "--json")
    assert ran.code == 0
    assert ran.json["ok"] is True
    assert (tmp_path / "tour.png").stat().st_size > 10_000
