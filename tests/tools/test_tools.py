"""The programs of ``tools/`` as they are run: from a clone, with ``gnt``'s errors and exit codes; README names all."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = sorted(path.parent.name for path in (ROOT / "tools").glob("*/__main__.py"))


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "120"}
    return subprocess.run([sys.executable, "-m", *words], cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_says_what_it_does_and_refuses_what_it_cannot(tool: str) -> None:
    helped = ran(f"tools.{tool}", "--help")
    assert helped.returncode == 0, helped.stderr
    assert f"python -m tools.{tool} " in helped.stdout
    wrong = ran(f"tools.{tool}", "absent")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert re.match(r"gnt: there is no \w[\w ]+ .?absent", wrong.stderr)
    assert "Traceback" not in wrong.stderr


def test_published_launches_are_shown() -> None:
    shown = ran("tools.published_launches", "swi_glu/8", "rms_norm")
    assert shown.returncode == 0, shown.stderr
    assert "swi_glu/8" in shown.stdout
    assert "outside the error band" in " ".join(shown.stdout.split())
    assert "rms_norm/8" in shown.stdout
    assert "dynamic_quant" not in shown.stdout


def test_the_readme_names_every_tool() -> None:
    named = re.findall(r"^\| `python -m tools\.(\w+)", (ROOT / "tools" / "README.md").read_text(), re.MULTILINE)
    assert sorted(named) == TOOLS
