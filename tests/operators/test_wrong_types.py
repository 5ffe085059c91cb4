"""Arguments of the wrong type or size from Python, each seen to end in a traceback once: an ArgumentError now."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gn_tutorial as gnt
from gn_tutorial.errors import ArgumentError, GntError, RegistryError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.memory_check import MOST_AXES, memory_bytes, require_room
from gn_tutorial.toml_file import read_toml

SOURCE = '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) {}\n'
X = np.zeros(8, np.float32)

#: Python prints no whole number of more than 4300 digits.
HUGE = 10**5000


def run(**how: Any) -> Any:
    return gnt.kernel(source=SOURCE).run(X, gnt.out(8), **how)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: run(options=3), "'options' must be TwinOptions"),
        (lambda: run(options=X), "'options' must be TwinOptions"),
        (lambda: run(options=HUGE), "not a number of about 5000 digits"),
        (lambda: run(limits=3), "'limits' must be Limits"),
        (lambda: run(tracing=3), "'tracing' must be Tracing"),
        (lambda: run(tiling_key=-1), "'tiling_key' must be a whole number"),
        (lambda: run(tiling_key="3"), "'tiling_key' must be a whole number"),
        (lambda: run(blocks=0), "'blocks' must be a whole number"),
        (lambda: run(tiling_key=HUGE), "not a number of about 5000 digits"),
        (lambda: run(blocks=HUGE), "not a number of about 5000 digits"),
        (lambda: gnt.kernel(source=SOURCE).run(HUGE, gnt.out(8)), "a number of about 5000 digits"),
        (
            lambda: gnt.kernel("group_norm/scalar")(X.reshape(1, 2, -1), num_groups=HUGE),
            "a number of about 5000 digits",
        ),
        (
            lambda: gnt.kernel("group_norm/scalar")(X.reshape(1, 2, -1), num_groups=2, eps=HUGE),
            "'eps' must be a number",
        ),
        (lambda: gnt.kernel(HUGE), "not by a number of about 5000 digits"),
        (lambda: gnt.load_machine(HUGE), "not a number of about 5000 digits"),
        (lambda: gnt.out(1 << 45), "needs 128 TiB"),
        (lambda: gnt.out(10**20), "this machine has"),
        (lambda: gnt.out((0, 10**20)), "this machine has"),
        (lambda: gnt.out((1,) * 70), "70 axes"),
        (lambda: gnt.out(8, "\ud800"), "a kernel's array cannot be"),
        (lambda: gnt.workspace(1 << 45), "needs 32 TiB"),
        (lambda: gnt.kernel(3), "by a name or a path, not by 3"),
        (lambda: gnt.kernel(b"copy"), "by a name or a path"),
        (lambda: gnt.kernel(source=SOURCE.encode()), "source= is text, not bytes"),
        (lambda: gnt.kernel(source=3), "source= is text, not int"),
        (lambda: gnt.kernel(source=SOURCE, template=3), "template= is the text"),
        (lambda: gnt.kernel(source=SOURCE, dtypes="float16"), "dtypes= says the dtype of each input"),
        (lambda: gnt.kernel(source=SOURCE, defines="A=1"), "defines= is a list of texts"),
        (lambda: gnt.kernel(source=SOURCE, defines=["A=\ud800"]), "defines= is a list of texts"),
        (lambda: gnt.kernel(source=SOURCE, defines=["A=\0"]), "defines= is a list of texts"),
        (lambda: gnt.kernel("copy")(X, tiling=3), "'tiling' is a Tiling, not 3"),
        (lambda: gnt.TwinOptions(warnings=3), "warnings cannot be 3"),
        (lambda: gnt.load_machine(3), "a machine must be a name or a path, not 3"),
        (lambda: gnt.profile(3), "a kernel is found by a name or a path, not by 3"),
        (lambda: gnt.project(3), "takes the path of a folder, not 3"),
        (lambda: gnt.project("a\ud800"), "there is no folder a\\ud800"),
        (lambda: gnt.project("a\0"), "there is no folder a"),
        (lambda: gnt.check("03.1", source=b"x"), "source= is text, not bytes"),
        (lambda: gnt.save_chrome_trace(3, "trace.json"), "needs a profile, not 3"),
        (lambda: gnt.new_operator(3), "takes the path of a folder, not 3"),
        (lambda: gnt.fusion_gain(3), "or a kernel, not 3"),
        (lambda: random_inputs.generator(-1), "a seed is a whole number from 0 on, not -1"),
        (lambda: random_inputs.generator("1"), "a seed is a whole number from 0 on, not '1'"),
    ],
)
def test_a_wrong_argument_is_named(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert said in str(caught.value)


def test_what_fits_is_not_refused() -> None:
    require_room("an array", (1,) * MOST_AXES, 4)
    require_room("an array", (0, 1 << 40), 4)
    require_room("an array", (memory_bytes() // 4,), 4)
    with pytest.raises(ArgumentError):
        require_room("an array", (memory_bytes() // 4 + 1,), 4)


def test_a_lone_surrogate_can_be_printed() -> None:
    with pytest.raises(GntError) as caught:
        gnt.kernel("a\ud800")
    assert "'a\\ud800'" in str(caught.value).encode("utf-8").decode()


def test_brackets_without_end_and_a_byte_order_mark_in_toml(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("x = " + "[" * 5000)
    with pytest.raises(RegistryError, match="nested too deeply"):
        read_toml(file, "the file")
    file.write_text('\ufeffx = "y"\n', encoding="utf-8")
    assert read_toml(file, "the file") == {"x": "y"}
    file.write_text(f"x = {'9' * 5000}")
    with pytest.raises(RegistryError, match="a number in it has more than 4300 digits"):
        read_toml(file, "the file")


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe as the kernel, as a machine: who opens it to read waits until somebody writes."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no pipes with a name")
    kernel, machine = tmp_path / "mine.cpp", tmp_path / "mine.toml"
    os.mkfifo(kernel)
    os.mkfifo(machine)
    with pytest.raises(RegistryError, match=r"mine\.cpp is no regular file"):
        gnt.kernel(kernel)
    with pytest.raises(RegistryError, match="cannot read the machine: it is no regular file"):
        gnt.load_machine(machine)
    folder = tmp_path / "other.cpp"
    folder.mkdir()
    with pytest.raises(RegistryError, match="is a folder"):
        gnt.kernel(folder)


@pytest.mark.parametrize(
    ("number", "said"),
    [(f"0x{'f' * 5000}", "a number of about 6020 digits"), ("inf", "cannot be inf")],
    ids=["hexadecimal", "inf"],
)
def test_a_machine_with_a_number_without_end(tmp_path: Path, number: str, said: str) -> None:
    mine = tmp_path / "mine.toml"
    table = f'value = {number}\nunit = "vector cores"\nsource = "mine"\nconfidence = "low"\n'
    mine.write_text(f'extends = "910B4"\n[constants.cores]\n{table}')
    with pytest.raises(RegistryError, match=f"cores: value .*{said}"):
        gnt.load_machine(mine)
    with pytest.raises(ArgumentError, match=said):
        gnt.load_machine().with_(cores=float(number) if number == "inf" else int(number, 16))


def test_a_byte_order_mark_in_sources(tmp_path: Path) -> None:
    """In the kernel, whose first line includes a header, and in that header, which alone has an entry."""
    (tmp_path / "own.h").write_text("\ufeff#pragma once\n#define ONE 1\n", encoding="utf-8")
    mine = tmp_path / "mine.cpp"
    text = '\ufeff#include "own.h"\n' + SOURCE.replace("{}", "{ static_assert(ONE == 1); }")
    mine.write_text(text, encoding="utf-8")
    found = gnt.kernel(mine)
    assert found.run(X, gnt.out(8), blocks=1, observed=False).blocks == 1
    assert len(found._source.headers()) == 1  # also where Python looks for entries
    assert gnt.kernel(source="\ufeff" + SOURCE).source == SOURCE


@pytest.mark.parametrize(("code", "said"), [("utf-16", "byte 1 is not UTF-8"), ("latin-1", "byte 6 is not UTF-8")])
def test_a_source_in_another_code(tmp_path: Path, code: str, said: str) -> None:
    mine = tmp_path / "mine.cpp"
    mine.write_bytes(f"// na\u00efve\n{SOURCE}".encode(code))
    with pytest.raises(RegistryError, match=said) as caught:
        gnt.kernel(mine).run(X, gnt.out(8))
    assert caught.value.where == str(mine)
