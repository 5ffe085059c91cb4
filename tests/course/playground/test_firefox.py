"""The page in Firefox, another engine than Chromium's: what runs there, and what its engine cannot do."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest
from playground_support import Server, missing

from gn_tutorial.course.playground.files import NODE, PLAYGROUND

FIREFOX = shutil.which("firefox") or shutil.which("firefox-esr")
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.skipif(not FIREFOX, reason="there is no Firefox (Debian: sudo apt install firefox-esr)"),
]


def visit(server: Server, *visits: dict[str, Any]) -> list[dict[str, Any]]:
    """What the page showed after Run, at each start, in one browser."""
    asked = [{"most": 240, **one, "address": f"{server.address}#start={one['start']}"} for one in visits]
    command = [str(NODE), "drive/firefox.mjs", str(FIREFOX), json.dumps(asked)]
    done = subprocess.run(command, cwd=PLAYGROUND, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)["seen"]
    assert [one["wrong"] for one in seen] == [[]] * len(visits)
    return seen


def test_numbers_findings_and_a_second_visit(server: Server) -> None:
    copy, wrong, mended = visit(
        server,
        {"start": "copy/queue"},
        {"start": "queue/empty_bad"},
        {"start": "queue/empty_bad", "edit": ["queue.HasTensorInQue();", "queue.EnQue(a);"]},
    )
    assert copy["verdict"] == "ran to its end, nothing found"
    assert "y: all 4096 right" in copy["numbers"]
    assert "modelled time on 910B2" in copy["modelled"]
    assert wrong["verdict"] == "1 mistake found"
    assert "queue-empty: DeQue on queue" in wrong["findings"]
    assert wrong["lines"] == [12]
    assert mended["verdict"] == "right: queue-empty is gone"
    assert mended["offline"]


def test_blocks_that_wait_run_or_the_page_says_that_this_browser_cannot(server: Server) -> None:
    (split,) = visit(server, {"start": "group_norm/split"})
    if split["canSuspend"]:
        assert split["verdict"] == "ran to its end, nothing found"
    else:
        assert split["verdict"] == "ended early"
        assert "which this browser cannot do (it lacks promise integration)" in split["findings"]
