"""./gnt: the first command a newcomer types, on machines that lack something, in folders with awkward names.

The clones hold the real ./gnt and a package that needs nothing from the network. These tests check the set-up with pip.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bootstrap_support import PYPROJECT, REAL, builds, fake_python, gnt, shelf_with, start


def test_help_needs_no_python(clone: Path, tools: Path) -> None:
    for arguments in ((), ("--help",)):
        result = gnt(clone, *arguments, path=tools)
        assert result.returncode == 0
        assert "tour" in result.stdout
    assert not (clone / ".venv").exists()


def test_no_python(clone: Path, tools: Path) -> None:
    result = gnt(clone, "tour", path=tools)
    assert result.returncode == 1
    assert "there is no python3" in result.stderr
    assert "sudo apt update && sudo apt install python3 python3-venv" in result.stderr
    assert not (clone / ".venv.lock").exists()


def test_python_too_old(clone: Path, tools: Path) -> None:
    program = "import sys; sys.version_info = (3, 10, 4); exec(sys.argv[1])"
    fake_python(tools, f"""[ "$1" != -c ] || exec "$real" -c '{program}' "$2" """)
    result = gnt(clone, "tour", path=tools)
    assert result.returncode == 1
    assert "python3 is version 3.10; this needs Python 3.11 or newer" in result.stderr
    assert "sudo apt install python3.11 python3.11-venv" in result.stderr


@pytest.mark.thorough
def test_venv_package_missing(clone: Path, tools: Path) -> None:
    # What Debian's python3 does without the package python3-venv: half an environment, this text, exit code 1.
    fake_python(
        tools,
        """
        case "$*" in *"import ensurepip"*) exit 1 ;; esac
        if [ "$1 $2" = "-m venv" ]; then
          mkdir -p "$3/bin" && : >"$3/pyvenv.cfg"
          echo "The virtual environment was not created successfully because ensurepip is not"
          echo "available.  On Debian/Ubuntu systems, you need to install the python3-venv"
          echo "package using the following command."
          exit 1
        fi
        """,
    )
    result = gnt(clone, "tour", path=tools)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert result.returncode == 1
    assert "venv package is not installed" in result.stderr
    assert f"sudo apt update && sudo apt install python{version}-venv" in result.stderr
    assert not (clone / ".venv").exists()
    # The learner installs the package and runs the same command again.
    fake_python(tools, "")
    assert gnt(clone, "tour", path=tools).returncode == 0


def test_sets_up_once_and_hands_over(clone: Path, tmp_path: Path) -> None:
    first = gnt(clone, "tour", "a photograph.png", cwd=tmp_path, env=REAL)
    assert first.returncode == 0, first.stderr
    assert first.stdout.strip() == f"{tmp_path}|tour|a photograph.png"
    assert "making a Python environment" in first.stderr
    assert "installing" in first.stderr
    second = gnt(clone, "anything", "fail", cwd=tmp_path)
    assert (second.returncode, second.stdout.strip(), second.stderr) == (7, f"{tmp_path}|anything|fail", "")
    assert builds(clone) == 1


@pytest.mark.thorough
def test_a_changed_pyproject_or_a_new_extra_installs_again(clone: Path) -> None:
    gnt(clone, "tour")
    # "lab" is an extra that ./gnt tour does not ask for.
    assert gnt(clone, "lab", "03").stdout.strip().endswith("|lab|03")
    assert builds(clone) == 2
    gnt(clone, "tour")
    assert builds(clone) == 2
    with (clone / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    result = gnt(clone, "tour")
    assert builds(clone) == 3
    assert "making a Python environment" not in result.stderr


def test_a_moved_clone_makes_a_new_environment(clone: Path, tmp_path: Path) -> None:
    gnt(clone, "tour")
    moved = clone.rename(tmp_path / "moved")
    result = gnt(moved, "tour", cwd=tmp_path)
    assert result.stdout.strip() == f"{tmp_path}|tour"
    assert "making a Python environment" in result.stderr


def test_works_through_a_symbolic_link(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gnt").symlink_to(os.path.relpath(clone / "gnt", tmp_path / "bin"))
    assert gnt(tmp_path / "bin", "tour").returncode == 0
    assert (clone / ".venv").is_dir()


def test_a_failed_installation_shows_what_pip_said(clone: Path) -> None:
    (clone / "pyproject.toml").write_text(PYPROJECT.replace("requires = []", 'requires = ["hatchling"]'))
    result = gnt(clone, "tour")
    assert result.returncode == 1
    assert "No matching distribution found for hatchling" in result.stderr
    assert "PIP_INDEX_URL" in result.stderr
    assert not (clone / ".venv.lock").exists()
    (clone / "pyproject.toml").write_text(PYPROJECT)
    assert gnt(clone, "tour").returncode == 0


def test_a_place_that_cannot_be_written(clone: Path) -> None:
    # A file where a folder is needed stops root too, whom a read-only mode would not.
    result = gnt(clone, "tour", env={"GNT_VENV": str(clone / "tiny.py" / "venv")})
    assert result.returncode == 1
    assert f"cannot write in {clone / 'tiny.py'}" in result.stderr
    assert 'GNT_VENV="$HOME/.gn_tutorial-venv" ./gnt tour' in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_clone(clone: Path, tmp_path: Path) -> None:
    clone.chmod(0o555)
    try:
        refused = gnt(clone, "tour")
        assert refused.returncode == 1
        assert f"cannot write in {clone}" in refused.stderr
    finally:
        clone.chmod(0o755)


def test_a_folder_that_is_not_an_environment_is_left_alone(clone: Path) -> None:
    precious = clone / ".venv" / "thesis.txt"
    precious.parent.mkdir()
    precious.write_text("chapter 1")
    result = gnt(clone, "tour")
    assert result.returncode == 1
    assert "exists, and ./gnt did not make it" in result.stderr
    assert precious.read_text() == "chapter 1"


def test_somebody_elses_environment_is_left_alone(clone: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(theirs)], check=True)
    result = gnt(clone, "tour", env={"GNT_VENV": str(theirs), "PATH": f"{theirs / 'bin'}:{os.environ['PATH']}"})
    assert result.returncode == 1
    assert f"{theirs} exists, and ./gnt did not make it" in result.stderr
    assert (theirs / "bin" / "python").exists()


@pytest.mark.thorough
def test_two_terminals_at_once(clone: Path) -> None:
    slow = {"SLOW_BUILD": "2"}
    both = [start(clone, "tour", env=slow), start(clone, "tour", env=slow)]
    errors = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert builds(clone) == 1
    assert sum("waiting for the set-up in another terminal" in text for text in errors) == 1


def test_a_lock_left_by_a_killed_process(clone: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    lock = clone / ".venv.lock"
    lock.mkdir()
    (lock / "pid").write_text(ended.stdout)
    assert gnt(clone, "tour").returncode == 0
    assert not lock.exists()


@pytest.mark.thorough
def test_interrupted_then_continued(clone: Path) -> None:
    process = start(clone, "tour", env={"SLOW_BUILD": "60"}, start_new_session=True)
    deadline = time.monotonic() + 60
    while not builds(clone) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "the next run continues the set-up" in err
    assert not (clone / ".venv.lock").exists()
    assert gnt(clone, "tour").returncode == 0


def test_torch_comes_from_the_index_of_cpu_builds(torch_clone: Path, tmp_path: Path) -> None:
    index = shelf_with(tmp_path, "torch", "9.9").as_uri()
    result = gnt(torch_clone, "torch", env={"GNT_TORCH_INDEX": index, "PIP_NO_INDEX": "0"})
    assert result.returncode == 0, result.stderr
    assert result.stderr.count(f"installing torch==9.9 from {index}") == 1
    assert "torch 9.9 is installed" in result.stdout
    assert builds(torch_clone) == 1


def test_torch_that_the_index_lacks_is_not_fetched_elsewhere(torch_clone: Path, tmp_path: Path) -> None:
    result = gnt(torch_clone, "torch", env={"GNT_TORCH_INDEX": tmp_path.as_uri(), "PIP_NO_INDEX": "0"})
    assert result.returncode == 1
    assert "No matching distribution found for torch==9.9" in result.stderr
    assert "GNT_TORCH_INDEX" in result.stderr
    assert builds(torch_clone) == 0


def test_an_empty_torch_index_leaves_the_choice_to_pip(torch_clone: Path) -> None:
    (torch_clone / "torch.py").write_text("__version__ = 'whatever pip chose'\n")
    result = gnt(torch_clone, "torch", env={"GNT_TORCH_INDEX": ""})
    assert result.returncode == 0, result.stderr
    assert "torch whatever pip chose is installed" in result.stdout
