"""./gnt's set-up where there is a uv: a stand-in that notes how it was called, or, where there is one, uv itself."""

import os
import shutil
import signal
import subprocess
import textwrap
import time
from pathlib import Path

import pytest
from bootstrap_support import REAL, builds, fake_python, gnt, shelf_with, start


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


@pytest.mark.thorough
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


@pytest.mark.thorough
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
    # The first call already has all that is passed on, so the set-up may fail after it.
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


@pytest.mark.thorough
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
