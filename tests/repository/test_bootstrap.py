"""./gnt: the first command a newcomer types, on machines that lack something, in folders with awkward names.

The clones here hold the real ./gnt and a package that needs nothing from the network: what is tested is the set-up.
Of the time of a set-up six parts of seven go into the Python environment itself, the same for every clone: it is made
once, and `python3 -m venv` copies it, except where a test says REAL. The set-up is that with pip, except where a test
gives ./gnt a uv: a stand-in that notes how it was called, or, where the machine has it, uv itself.
"""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REAL = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
TOOLS = "cat cksum dirname ls mkdir readlink rm sed sh sleep".split()

# A build backend of the standard library only, so that pip downloads nothing. Its editable wheel holds `gnt`.
BACKEND = """
import os, pathlib, time, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    with open("builds.log", "a") as log:
        log.write("build\\n")
    time.sleep(float(os.environ.get("SLOW_BUILD", "0")))
    name, info = "tiny-1.0-py3-none-any.whl", "tiny-1.0.dist-info"
    members = {
        "tiny.pth": os.getcwd(),
        f"{info}/METADATA": "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\nProvides-Extra: lab\\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        f"{info}/entry_points.txt": "[console_scripts]\\ngnt = tiny:main\\n",
    }
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as wheel:
        for path, text in members.items():
            wheel.writestr(path, text)
        wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\\n" for path in members))
    return name
"""
TINY = """
import os, sys

def main():
    print(os.getcwd(), *sys.argv[1:], sep="|")
    return 7 if "fail" in sys.argv else 0
"""
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "tiny"
version = "1.0"
"""


@pytest.fixture(scope="module", autouse=True)
def environments_are_copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The first python3 on the path, which copies an environment where the real one makes the same."""
    folder = tmp_path_factory.mktemp("python")
    made = folder / "made"
    subprocess.run([sys.executable, "-m", "venv", str(made)], check=True)
    # -p: compiled modules hold the times of their sources. The folder is there: ./gnt has left its mark in it.
    fake_python(folder, f"""[ "$1 $2" != "-m venv" ] || exec cp -pR '{made}/.' "$3" """)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}{os.pathsep}{REAL['PATH']}")
        yield


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose path has spaces, an apostrophe and brackets."""
    folder = tmp_path / "it's a [new] clone"
    folder.mkdir()
    shutil.copy(ROOT / "gnt", folder)
    for name, text in {"backend.py": BACKEND, "tiny.py": TINY, "pyproject.toml": PYPROJECT}.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with the commands ./gnt may use, and no Python."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    return folder


def start(clone: Path, *arguments: str, path: Path | None = None, **options: object) -> subprocess.Popen[str]:
    ours = ("PIP_", "GNT_", "PYTHON", "UV_", "SSL_")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    variables |= {"PATH": str(path)} if path else {}
    variables |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "GNT_NO_UV": "1", **options.pop("env", {})}
    command = [str(clone / "gnt"), *arguments]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=variables, text=True, **streams, **options)


def gnt(clone: Path, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    with start(clone, *arguments, **options) as process:
        out, err = process.communicate(timeout=120)
    assert "Traceback" not in err
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def fake_python(folder: Path, body: str) -> None:
    wrapper = folder / "python3"
    wrapper.write_text(f'#!/bin/sh\nreal="{sys.executable}"\n{textwrap.dedent(body)}\nexec "$real" "$@"\n')
    wrapper.chmod(0o755)


def builds(clone: Path) -> int:
    log = clone / "builds.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


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


def test_a_changed_pyproject_or_a_new_extra_installs_again(clone: Path) -> None:
    gnt(clone, "tour")
    # "lab" is an extra that ./gnt tour does not ask for; JupyterLab is not in this package, so starting it fails.
    assert gnt(clone, "lab").returncode != 0
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


@pytest.fixture
def torch_clone(clone: Path) -> Path:
    """The clone, with a package that asks for torch==9.9 in its extra."""
    (clone / "pyproject.toml").write_text(
        PYPROJECT + '[project.optional-dependencies]\ntorch = ["other", "torch==9.9"]\n'
    )
    return clone


def shelf_with(folder: Path, name: str, version: str) -> Path:
    """An index, as a folder, with one package of one module that holds its version."""
    shelf = folder / "index" / name
    shelf.mkdir(parents=True)
    wheel, info = shelf / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    members = {
        f"{name}.py": f"__version__ = '{version}'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in members.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in members))
    (shelf / "index.html").write_text(f'<a href="{wheel.name}">{wheel.name}</a>')
    return shelf.parent


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


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a stand-in for uv, the first on the path, notes its words and variables; it does with pip what is asked."""
    folder, notes = tmp_path / "uv", tmp_path / "noted"
    folder.mkdir()
    (folder / "uv").write_text(
        textwrap.dedent(
            """\
            #!/bin/sh
            [ "$1" != --version ] || exit 0
            { echo "uv $*"; env | grep -E '^(UV|SSL)_' | sort; } >>"$NOTED"
            [ -z "${BROKEN_UV:-}" ] || exit 2
            [ "$1" != venv ] || exec "$5" -m venv "$6"
            python=$4
            shift 4
            case "$*" in "--quiet pip"*) exit ;; esac
            exec "$python" -m pip install "$@"
            """
        )
    )
    (folder / "uv").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("NOTED", str(notes))
    return notes


WITH_UV = {"GNT_NO_UV": ""}


def test_uv_makes_the_environment_and_installs(clone: Path, noted: Path) -> None:
    result = gnt(clone, "tour", env={**WITH_UV, "UV_SYSTEM_PYTHON": "1"})
    assert (result.returncode, result.stdout.strip()) == (0, f"{Path.cwd()}|tour"), result.stderr
    assert "setting up (once, with uv)" in result.stderr
    python = shutil.which("python3")
    words = [line for line in noted.read_text().splitlines() if line.startswith("uv ")]
    venv = clone / ".venv"
    assert words == [
        f"uv venv --quiet --allow-existing --python {python} {venv} --no-index",
        f"uv pip install --python {venv}/bin/python --quiet pip --no-index",
        f"uv pip install --python {venv}/bin/python --editable . --no-index",
    ]
    # Only the Python that was found: not one that uv downloads, and not the system's.
    assert noted.read_text().count("UV_PYTHON_DOWNLOADS=never") == len(words)
    assert "UV_SYSTEM_PYTHON" not in noted.read_text()
    assert gnt(clone, "tour", env=WITH_UV).stderr == ""


def test_uv_can_be_refused_and_may_be_a_shim_without_a_uv(clone: Path, noted: Path) -> None:
    assert gnt(clone, "tour").returncode == 0
    (noted.parent / "uv" / "uv").write_text("#!/bin/sh\nexit 127\n")
    shutil.rmtree(clone / ".venv")
    result = gnt(clone, "tour", env=WITH_UV)
    assert result.returncode == 0
    assert "with uv" not in result.stderr
    assert not noted.exists()


MIRROR, MORE = "https://mirror.example/simple", "https://more.example/simple"


@pytest.mark.parametrize(
    ("variables", "pip_says", "passed_on"),
    [
        ({}, "global.timeout='60'", {}),
        ({"PIP_INDEX_URL": MIRROR}, "", {"UV_INDEX_URL": MIRROR}),
        ({}, f"global.index-url='{MIRROR}'", {"UV_INDEX_URL": MIRROR}),
        ({"PIP_INDEX_URL": MIRROR}, f"global.index-url='{MORE}'", {"UV_INDEX_URL": MIRROR}),
        ({"UV_DEFAULT_INDEX": MORE, "PIP_INDEX_URL": MIRROR}, "", {"UV_DEFAULT_INDEX": MORE}),
        (
            {},
            f"""\
            :env:.extra-index-url='{MORE}'
            global.cert='/c.pem'
            global.extra-index-url='https://other.example'
            global.find-links='/a\\n/b'
            install.trusted-host='more.example'
            """,
            {
                "UV_EXTRA_INDEX_URL": MORE,
                "UV_INDEX_STRATEGY": "unsafe-best-match",
                "UV_FIND_LINKS": "/a,/b",
                "UV_INSECURE_HOST": "more.example",
                "SSL_CERT_FILE": "/c.pem",
            },
        ),
    ],
    ids=["none", "variable", "file", "variable first", "uv's own", "all"],
)
def test_uv_is_told_of_the_mirrors_that_pip_knows(
    clone: Path, noted: Path, variables: dict[str, str], pip_says: str, passed_on: dict[str, str]
) -> None:
    fake_python(noted.parent / "uv", """[ "$*" != "-m pip config list" ] || { cat "$PIP_SAYS"; exit; }""")
    says = noted.with_name("pip config list")
    says.write_text(textwrap.dedent(pip_says))
    # What is passed on is known at the first call; the set-up need not go on.
    env = {**WITH_UV, "PIP_NO_INDEX": "0", "PIP_SAYS": str(says), "BROKEN_UV": "1", **variables}
    assert gnt(clone, "tour", env=env).returncode == 1
    words, *lines = noted.read_text().splitlines()
    assert "--no-index" not in words
    assert dict(line.split("=", 1) for line in lines) == {"UV_PYTHON_DOWNLOADS": "never", **passed_on}


def test_when_uv_fails_the_way_without_it_is_named(clone: Path, noted: Path) -> None:
    result = gnt(clone, "tour", env={**WITH_UV, "BROKEN_UV": "1"})
    assert result.returncode == 1
    assert "GNT_NO_UV=1 and the same command" in result.stderr
    assert not (clone / ".venv").exists()
    assert not (clone / ".venv.lock").exists()
    assert gnt(clone, "tour").returncode == 0


def test_torch_comes_by_uv_from_the_index_and_by_pip_if_there_is_none(
    torch_clone: Path, noted: Path, tmp_path: Path
) -> None:
    index = shelf_with(tmp_path, "torch", "9.9").as_uri()
    result = gnt(torch_clone, "torch", env={**WITH_UV, "GNT_TORCH_INDEX": index, "PIP_NO_INDEX": "0"})
    assert "torch 9.9 is installed" in result.stdout, result.stderr
    assert f"uv pip install --python {torch_clone}/.venv/bin/python --index-url {index} torch==9.9" in noted.read_text()
    shutil.rmtree(torch_clone / ".venv")
    noted.unlink()
    (torch_clone / "torch.py").write_text("__version__ = 'whatever pip chose'\n")
    result = gnt(torch_clone, "torch", env={**WITH_UV, "GNT_TORCH_INDEX": ""})
    assert "torch whatever pip chose is installed" in result.stdout, result.stderr
    assert noted.read_text().count("uv pip install") == 1, "pip itself, and nothing else"


needs_uv = pytest.mark.skipif(shutil.which("uv") is None, reason="no uv on this machine")


@pytest.fixture
def offline(tmp_path: Path) -> dict[str, str]:
    """Variables with which the real uv needs no network: an index of our own, with a pip."""
    index = shelf_with(tmp_path, "pip", "99").as_uri()
    return {**WITH_UV, "PIP_NO_INDEX": "0", "PIP_INDEX_URL": index, "UV_CACHE_DIR": str(tmp_path / "uv-cache")}


@needs_uv
def test_the_real_uv_sets_up_without_the_venv_package(clone: Path, tmp_path: Path, offline: dict[str, str]) -> None:
    (tmp_path / "python").mkdir()
    fake_python(tmp_path / "python", """[ "$1 $2" != "-m venv" ] || exit 1""")
    offline["PATH"] = f"{tmp_path / 'python'}{os.pathsep}{REAL['PATH']}"
    result = gnt(clone, "tour", "a photograph.png", cwd=tmp_path, env=offline)
    assert (result.returncode, result.stdout.strip()) == (0, f"{tmp_path}|tour|a photograph.png"), result.stderr
    python = clone / ".venv" / "bin" / "python"
    found = subprocess.run([python, "-c", "import pip; print(pip.__version__)"], capture_output=True, text=True)
    assert found.stdout.strip() == "99"
    assert builds(clone) == 1


@needs_uv
def test_the_real_uv_takes_torch_from_the_index_only(
    torch_clone: Path, tmp_path: Path, offline: dict[str, str]
) -> None:
    shelf_with(tmp_path, "other", "1.0")  # what the extra asks for besides torch
    absent = gnt(torch_clone, "torch", env={**offline, "GNT_TORCH_INDEX": (tmp_path / "index").as_uri()})
    assert absent.returncode == 1
    assert "torch==9.9" in absent.stderr
    assert "GNT_TORCH_INDEX" in absent.stderr
    index = shelf_with(tmp_path / "second", "torch", "9.9").as_uri()
    result = gnt(torch_clone, "torch", env={**offline, "GNT_TORCH_INDEX": index})
    assert "torch 9.9 is installed" in result.stdout, result.stderr
    assert builds(torch_clone) == 1


@needs_uv
def test_the_real_uv_is_interrupted(clone: Path, offline: dict[str, str]) -> None:
    process = start(clone, "tour", env={**offline, "SLOW_BUILD": "60"}, start_new_session=True)
    deadline = time.monotonic() + 60
    while not builds(clone) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "the next run continues the set-up" in err
    assert not (clone / ".venv.lock").exists()
    assert gnt(clone, "tour", env=offline).returncode == 0
