"""``gnt run``: registered kernels, learner's files, and what goes wrong with either."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import Gnt
from PIL import Image

from gn_tutorial.operators import registry

# Two instructions in a row: the second needs the first, and without the compiler's waits a barrier between them.
TWICE = """\
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, 256);
  GlobalTensor<float> in, out;
  in.SetGlobalBuffer((__gm__ float*)x);
  out.SetGlobalBuffer((__gm__ float*)y);
  LocalTensor<float> first = queue.AllocTensor<float>();
  DataCopy(first, in, 64);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(first, first, 1.0f, 64);
  LocalTensor<float> a = first;
  Muls(a, a, 2.0f, 64);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(out, a, 64);
  queue.FreeTensor(a);
}
"""


def test_run_compares_a_registered_kernel_with_its_reference(gnt: Gnt) -> None:
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


def test_run_without_options_takes_the_example(gnt: Gnt) -> None:
    assert gnt("run", "add", "--json").json["shape"] == [4096]


def test_run_modes(gnt: Gnt) -> None:
    facts = gnt("run", "copy", "--shape", "100", "--bare", "--in-process", "--json").json
    assert (facts["ok"], facts["observed"], facts["tally"]["bytes_in"]) == (True, False, 0)


def test_explicit_waits_are_asked_for_by_their_own_option(gnt: Gnt, tmp_path: Path) -> None:
    source = tmp_path / "twice.cpp"
    source.write_text(TWICE)
    words = ("run", source, "--arg", "x=float32[64]", "--out", "y=float32[64]", "--blocks", 1)
    assert gnt(*words, "--strict").code == 0
    explicit = gnt(*words, "--waits", "explicit")
    assert explicit.code == 6
    assert "PipeBarrier<PIPE_V>() between the two" in explicit.err
    source.write_text(TWICE.replace("a = first;", "a = first; PipeBarrier<PIPE_V>();"))
    assert gnt(*words, "--strict", "--waits", "explicit").code == 0
    source.write_text(
        TWICE.replace("a = first;", "a = first; PipeBarrier<PIPE_V>(); TBuf<> b; pipe.InitBuffer(b, 1, 32);")
    )
    assert gnt(*words).code == 0
    assert "InitBuffer of a TBuf with three arguments" in gnt(*words, "--strict").err
    bare = gnt(*words, "--strict", "--bare")
    assert bare.code == 2
    assert "--strict needs the checks that --bare leaves out" in bare.err
    assert "--waits explicit needs the checks" in gnt(*words, "--waits", "explicit", "--bare").err
    assert gnt(*words, "--waits", "some").code == 2


def test_seed_decides_the_input(gnt: Gnt) -> None:
    errors = [
        gnt("run", "group_norm/scalar", "--shape", "1,2,50", "--groups", 1, "--seed", seed, "--json").json["outputs"]
        for seed in (1, 1, 2)
    ]
    assert errors[0] == errors[1] != errors[2]


def test_wrong_kernel_gives_exit_code_1(gnt: Gnt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shutil.copytree(registry.kernels_root() / "add", tmp_path / "add")
    source = tmp_path / "add" / "add.cpp"
    assert "AscendC::Add(" in source.read_text()
    source.write_text(source.read_text().replace("AscendC::Add(", "AscendC::Sub("))
    monkeypatch.setattr(registry, "kernels_root", lambda: tmp_path)
    ran = gnt("run", "add")
    assert ran.code == 1
    assert "wrong" in ran.out
    assert gnt("run", "add", "--json").json["ok"] is False


def test_run_a_learners_file(gnt: Gnt, mine: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(5, dtype=np.int32))
    ran = gnt("run", mine, "--arg", f"x=@{tmp_path / 'x.npy'}", "--out", "y=int32[5]", "--arg", "n=5", "--blocks", 1)
    assert ran.code == 0
    assert "0, 2, 4, 6, ..." in ran.out
    assert "n is 5" in ran.out
    facts = gnt(
        "run", mine, "--arg", "x=int32[2,3]", "--out", "y=int32[2,3]", "--arg", "n=6", "--blocks", 1, "--json"
    ).json
    assert facts["ok"] is None
    assert facts["outputs"]["y"] == {"dtype": "int32", "shape": [2, 3]}


def test_a_file_that_does_not_divide_its_work_hears_of_one_block(gnt: Gnt, mine: Path) -> None:
    words = ("run", mine, "--arg", "x=int32[5]", "--out", "y=int32[5]", "--arg", "n=5")
    ran = gnt(*words)
    assert ran.code == 6
    assert "more:  gnt explain race-blocks" in ran.err
    assert "--blocks 1" in ran.err
    assert gnt(*words, "--blocks", 1).code == 0


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
def test_wrong_word_for_a_file_is_quoted(gnt: Gnt, mine: Path, words: tuple[str, ...], message: str) -> None:
    ran = gnt("run", mine, *words)
    assert ran.code == 2
    assert message in ran.err


def test_compile_error_has_its_own_code(gnt: Gnt, mine: Path) -> None:
    mine.write_text(mine.read_text().replace("SetValue", "SetValu"))
    ran = gnt("run", mine, "--arg", "x=int32[5]", "--out", "y=int32[5]", "--arg", "n=5")
    assert ran.code == 4
    assert "mine.cpp:6" in ran.err


def test_kernel_fault_has_its_own_code(gnt: Gnt, mine: Path) -> None:
    ran = gnt("run", mine, "--arg", "x=int32[5]", "--out", "y=int32[5]", "--arg", "n=6")
    assert ran.code == 6
    assert "mine.cpp:6" in ran.err


def test_a_finding_becomes_a_picture(gnt: Gnt, mine: Path, tmp_path: Path) -> None:
    words = ("run", mine, "--blocks", 1, "--arg", "x=int32[5]", "--out", "y=int32[5]")
    words = (*words, "--plot", tmp_path / "finding.png", "--arg")
    assert f"no picture, because the twin found nothing: {tmp_path}" in gnt(*words, "n=5").err
    assert not (tmp_path / "finding.png").exists()
    ran = gnt(*words, "n=6", "--json")
    assert (ran.code, ran.json["ok"]) == (6, False)
    assert f"picture: {tmp_path / 'finding.png'}" in ran.err
    with Image.open(tmp_path / "finding.png") as image:
        assert "mine.cpp:6:59, block 0" in image.info["Description"]
        assert str(tmp_path) not in image.info["Description"]


def test_a_picture_is_a_png(gnt: Gnt, mine: Path) -> None:
    ran = gnt("run", mine, "--plot", "finding.jpg")
    assert ran.code == 2
    assert "the name of a picture must end in .png" in ran.err


def test_a_launch_that_fails_is_json_too(gnt: Gnt, mine: Path) -> None:
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
    assert gnt(*words[:-1], "n=5", "--blocks", 1, "--json").json["diagnostics"] == []


def test_on_a_terminal_findings_are_in_colour(gnt: Gnt, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_findings_are_warnings_or_errors_by_name(gnt: Gnt, tmp_path: Path) -> None:
    source = tmp_path / "k.cpp"
    source.write_text(
        '#include "kernel_operator.h"\nusing namespace AscendC;\n'
        'extern "C" __global__ __aicore__ void k(GM_ADDR y) {\n  SetFlag<HardEvent::V_S>(0);\n}\n'
    )
    words = ("run", str(source), "--out", "y=float32[8]", "--blocks", 1)
    assert gnt(*words).code == 6
    passed = gnt(*words, "--warn", "flag-never-awaited", "--json")
    assert passed.code == 0
    assert {(one["id"], one["severity"]) for one in passed.json["diagnostics"]} == {
        ("flag-never-awaited", "warning"),
        ("gm-not-written", "warning"),
    }
    failed = gnt(*words, "--warn", "flag-never-awaited", "--error", "gm-not-written")
    assert failed.code == 6
    assert "gm-not-written" in failed.err + failed.out
    unknown = gnt(*words, "--warn", "flag-awaited")
    assert unknown.code == 2
    assert "flag-never-awaited" in unknown.err


def test_a_file_is_read_before_the_kernel(gnt: Gnt, mine: Path, tmp_path: Path) -> None:
    mine.write_text(mine.read_text(encoding="utf-8").replace("2 * in", "FACTOR * in"), encoding="utf-8")
    header = tmp_path / "elsewhere" / "factor.h"
    header.parent.mkdir()
    header.write_text("#pragma once\nconstexpr int32_t FACTOR = 5;\n", encoding="utf-8")
    words = (mine, "--arg", "x=int32[8]", "--arg", "n=8", "--out", "y=int32[8]", "--blocks", 1, "--include", header)
    assert gnt("run", *words).code == 0
    profiled = gnt("profile", *words, "--json")
    assert profiled.code == 0, profiled.err
    missing = gnt("run", *words[:-1], tmp_path / "none.h")
    assert missing.code != 0
    assert "there is no file" in missing.err
    registered = gnt("run", "group_norm/scalar", "--include", header)
    assert "--include" in registered.err


def test_a_file_is_compared_with_a_function(gnt: Gnt, mine: Path, tmp_path: Path) -> None:
    reference = tmp_path / "ref.py"
    words = ("run", mine, "--arg", "x=int32[5]", "--out", "y=int32[5]", "--arg", "n=5", "--blocks", 1)
    words = (*words, "--reference", f"{reference}:twice")
    for right in (
        "def twice(x): return 2 * x",
        "def twice(n, *, x): return (x[:n] + x,)",
        "def twice(**given): return {'y': given['x'] * 2.0}",
        "def twice(x, /): return x + x",
    ):
        reference.write_text(right)
        ran = gnt(*words)
        assert ran.code == 0, ran.err
        assert f"against {reference}:twice" in ran.out
    reference.write_text("def twice(x):\n    x += 1\n    return 2 * x\n")
    ran = gnt(*words)
    assert ran.code == 1
    assert "all 5 wrong elements" not in ran.out
    assert "NOT within tolerance" in ran.out
    assert "y[0] is" in ran.out
    facts = gnt(*words, "--json")
    assert facts.code == 1
    assert facts.json["ok"] is False
    assert facts.json["reference"] == f"{reference}:twice"
    assert facts.json["outputs"]["y"]["wrong"] == 5
    assert gnt(*words, "--atol", 2).code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, ("there is no file", "ref.py")),
        ("def other(x): return x", ("there is no function 'twice'",)),
        ("def twice(x:\n", ("the reference's file failed: SyntaxError", "ref.py:1")),
        ("import nothing_like_this\n", ("ModuleNotFoundError", "ref.py:1")),
        ("def twice(x):\n    y = x\n    return y / w\n", ("NameError: name 'w'", "ref.py:3", "return y / w")),
        ("import sys\ndef twice(x): sys.exit(0)", ("SystemExit", "ref.py:2")),
        ("def twice(a): return a", ("asks for a", "x, n")),
        ("def twice(x): 2 * x", ("returned None for y",)),
        ("def twice(x): return 'y'", ("returned a str for y",)),
        ("def twice(x): return x * 1j", ("an array of complex128 for y",)),
        ("def twice(x): return x.sum()", ("the shape ()", "has (5,)")),
        ("def twice(x): return x, x", ("returned 2 outputs", "kernel has 1", "order: y")),
        ("def twice(x): return {'z': x}", ("returned z", "outputs are y")),
    ],
)
def test_a_reference_that_cannot_be_used_is_named(
    gnt: Gnt, mine: Path, tmp_path: Path, text: str | None, said: tuple[str, ...]
) -> None:
    reference = tmp_path / "ref.py"
    if text is not None:
        reference.write_text(text)
    ran = gnt(
        "run", mine, "--arg", "x=int32[5]", "--out", "y=int32[5]", "--arg", "n=5", "--reference", f"{reference}:twice"
    )
    assert ran.code == 2
    assert all(one in ran.err for one in said), ran.err
    assert "gn_tutorial" not in ran.err.replace(str(tmp_path), "")


def test_a_reference_is_for_files(gnt: Gnt, mine: Path) -> None:
    assert "--reference does not apply" in gnt("run", "add", "--reference", "ref.py:f").err
    ran = gnt("run", mine, "--arg", "x=int32[5]", "--rtol", 1e-3)
    assert (ran.code, "--rtol and --atol are of a comparison" in ran.err) == (2, True)
