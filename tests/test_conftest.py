"""A run of the suite ends: also when a test kills its worker, or hangs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
KILLED = "import os\n\n\ndef test_deadly():\n    os._exit(3)\n"
HANGS = "import time\n\n\ndef test_deadly():\n    time.sleep(3600)\n"


@pytest.mark.parametrize("text", [KILLED, HANGS], ids=["killed", "hangs"])
def test_a_deadly_test_ends_the_run(tmp_path: Path, text: str) -> None:
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_first.py").write_text(text, encoding="utf-8")
    (tmp_path / "test_second.py").write_text("def test_fine():\n    pass\n", encoding="utf-8")
    # Of the suite's own settings only the length of a hang is another one; the plugins that are not used cost seconds.
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert settings.count("faulthandler_timeout = 900") == 1
    settings = settings.replace("faulthandler_timeout = 900", "faulthandler_timeout = 2")
    (tmp_path / "pyproject.toml").write_text(settings.replace('testpaths = ["tests", "notebooks"]\n', ""), "utf-8")
    plugins = [
        word for name in ("nbval", "anyio", "hypothesispytest", "cacheprovider") for word in ("-p", f"no:{name}")
    ]
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadscope", *plugins]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert "died in one of: test_first.py::test_deadly" in done.stdout
    if text == HANGS:
        assert "test_first.py" in done.stderr  # the traceback
        assert "in test_deadly" in done.stderr
