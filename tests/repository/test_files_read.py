"""What calls of the door read: their own TOML files, and those again that were edited, added or removed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gn_tutorial import toml_file
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators.registry import find_kernel, find_operator, kernels_root, load_registry

KERNELS = kernels_root()
#: Prints a line for each call: the TOML files that it opens.
AUDIT = """
import sys
opened = []
sys.addaudithook(lambda event, args: event == "open" and str(args[0]).endswith(".toml") and opened.append(str(args[0])))
import gn_tutorial as gnt
for call in sys.argv[1:]:
    opened.clear()
    exec(call)
    print(*opened)
"""


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of two folders of the course's kernels, which is where the registry looks."""
    monkeypatch.setattr(toml_file, "PACKAGE", tmp_path / "gn_tutorial")
    for name in ("silu", "copy"):
        shutil.copytree(KERNELS / name, tmp_path / "kernels" / name)
    return tmp_path / "kernels"


def opened(*calls: str, **environment: str) -> list[list[str]]:
    """The TOML files below kernels, exercises and solutions that each of the calls opens, in one new process."""
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, *calls], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    ours = tuple(map(str, (KERNELS, load_course().root, load_course().solutions)))
    return [[one for one in line.split() if one.startswith(ours)] for line in done.stdout.splitlines()]


def test_a_kernel_reads_the_files_of_its_operator_once() -> None:
    root = KERNELS
    first, again, extending, unknown = opened(
        'gnt.kernel("silu")',
        'gnt.kernel("silu/queue")',
        'gnt.kernel("group_norm_silu")',
        "try: gnt.kernel('no_such')\nexcept gnt.errors.RegistryError: pass",
    )
    assert (first, again) == ([str(root / "silu" / "op.toml")], [])
    assert extending == [str(root / "group_norm" / name) for name in ("group_norm_silu.op.toml", "op.toml")]
    assert len(unknown) > 25  # all others, for the names that are close


def test_a_check_reads_its_own_exercise(tmp_path: Path) -> None:
    course = load_course()
    untouched, again, passed = opened(
        'gnt.check("06.2")',
        'gnt.check("06.2")',
        "from gn_tutorial.course.exercises.registry import load_course\n"
        'gnt.check("04.3", source=load_course().find("04.3").solution.read_text())',
        GNT_EXERCISES_DIR=str(tmp_path / "mine"),
        GNT_DATA_DIR=str(tmp_path / "data"),
    )
    assert (untouched, again) == ([str(course.find("06.2").info)], [])
    # After a pass the next exercise that was not passed is named.
    ids = [one.id for one in course]
    following = ids[ids.index("04.3") + 1]
    assert [one for one in passed if one.endswith(".exercise.toml")] == [
        str(course.find(name).info) for name in ("04.3", following)
    ]


def test_an_edited_added_and_removed_operator_is_noticed(kernels: Path) -> None:
    assert find_kernel("silu")[0].title == "SiLU"
    file, text = kernels / "silu" / "op.toml", (kernels / "silu" / "op.toml").read_text(encoding="utf-8")
    file.write_text(text.replace('title = "SiLU"', 'title = "Silu"'), encoding="utf-8")  # the same size, at once
    assert find_kernel("silu")[0].title == load_registry()["silu"].title == "Silu"

    added = kernels / "copy" / "silu_too.op.toml"
    with pytest.raises(RegistryError, match="no operator is registered as 'silu_too'"):
        find_operator("silu_too")
    added.write_text(text.replace('name = "silu"', 'name = "silu_too"'), encoding="utf-8")
    assert find_operator("silu_too").file == added
    assert "silu_too" in load_registry()

    added.unlink()
    with pytest.raises(RegistryError, match="no kernel is registered as 'silu_too'"):
        find_kernel("silu_too")
    assert "silu_too" not in load_registry()


def test_an_edit_of_the_file_that_another_extends_is_noticed(kernels: Path) -> None:
    base, own = kernels / "silu" / "op.toml", kernels / "silu" / "other.op.toml"
    own.write_text('name = "other"\nextends = "op.toml"\n', encoding="utf-8")
    assert find_operator("other").title == "SiLU"
    text = base.read_text(encoding="utf-8")
    base.write_text(text.replace('title = "SiLU"', 'title = "Silu"'), encoding="utf-8")
    assert find_operator("other").title == "Silu"


def test_a_mistake_in_another_operator_s_file_does_not_stop_a_kernel(kernels: Path) -> None:
    (kernels / "copy" / "op.toml").write_text("name = ", encoding="utf-8")
    assert find_kernel("silu")[1].id == "silu/queue"
    with pytest.raises(RegistryError, match="cannot read the registry file"):
        load_registry()


def test_an_edited_added_and_removed_exercise_is_noticed(tmp_path: Path) -> None:
    theirs = load_course()
    info = tmp_path / "06_topic" / "06_2.exercise.toml"
    info.parent.mkdir()
    text = theirs.find("06.2").info.read_text(encoding="utf-8")
    title = theirs.find("06.2").title
    info.write_text(text, encoding="utf-8")
    assert load_course(theirs.root, tmp_path).find("06.2").title == title
    course = load_course(theirs.root, tmp_path)
    info.write_text(text.replace(title, title.swapcase()), encoding="utf-8")  # the same size, at once
    assert course.find("06.2").title == load_course(theirs.root, tmp_path).find("06.2").title == title.swapcase()

    info.with_name("06_10.exercise.toml").write_text(text, encoding="utf-8")
    assert load_course(theirs.root, tmp_path).ids == ["06.2", "06.10"]
    info.unlink()
    with pytest.raises(ArgumentError, match=r"there is no exercise '06\.2'"):
        load_course(theirs.root, tmp_path).find("06.2")
