"""The course's programs give on an emulated aarch64 what they give here."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "aarch64"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("aarch64", str(SCRIPT))
    spec = importlib.util.spec_from_loader("aarch64", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_each_difference_is_named(script: ModuleType) -> None:
    here = {"same": {"y": "1"}, "other": {"y": "1"}, "broken": {"error": "no"}, "gone": {"y": "1"}}
    there = {"same": {"y": "1"}, "other": {"y": "2"}, "broken": {"error": "no"}}
    found = script.differences(here, there)
    assert [line.partition(":")[0] for line in found] == ["other", "broken", "gone"]
    assert found[0] == "other: y: 1 here, 2 on aarch64"


@pytest.mark.parametrize(("flags", "usable"), [("OCF", True), ("F", True), ("OC", False), ("", False)])
def test_a_registered_qemu_counts_only_where_a_tree_can_use_it(script: ModuleType, flags: str, usable: bool) -> None:
    assert script.ready(f"enabled\ninterpreter /usr/bin/qemu\nflags: {flags}\noffset 0") == usable
    assert not script.ready(f"disabled\ninterpreter /usr/bin/qemu\nflags: {flags}\noffset 0")


@pytest.mark.thorough
def test_aarch64_gives_what_this_machine_gives(script: ModuleType) -> None:
    try:
        script.require()
    except script.Refusal as refusal:
        pytest.skip(str(refusal))
    if not shutil.which("apt-get") or subprocess.run(["apt-get", "update", "-qq"], check=False).returncode:
        pytest.skip("no Debian mirror can be reached")
    environment = {name: value for name, value in os.environ.items() if name != "GNT_CXX"}
    done = subprocess.run(
        [sys.executable, SCRIPT, "--pairs=2"], env=environment, capture_output=True, text=True, timeout=840, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(", 0 differences\n")
