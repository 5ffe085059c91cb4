"""Shared by the tests of papers and tasks: a clock that is set by hand, and the headings that they may cite."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

BEGIN = 1_800_000_000.0


class Clock:
    """Seconds since 1970, as the test sets them."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> float:
        return self.now


@functools.cache
def headings(page: Path) -> set[str]:
    """Return the headings of a page or a notebook; for a notebook also without their numbers."""
    if page.suffix == ".ipynb":
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    else:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = set(re.findall(r"^#{1,4} (.+)$", text, re.MULTILINE))
    return found | {re.sub(r"^\d+\. ", "", one) for one in found if page.suffix == ".ipynb"}
