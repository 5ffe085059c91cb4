"""What each copy was made from: ``manifest.json`` in the course folder's ``.gnt``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gn_tutorial.course.atomic_write import write_atomically

_FORMAT = 1


@dataclass(frozen=True)
class Copy:
    """One copy. made_from: digest of the course's notebook, "" for a file that we found and did not make.

    written: sha256 of the bytes that we wrote, "" likewise. cells: fingerprints of that notebook's cells. offered: the
    digest of a newer notebook that was put beside this copy, so that it is offered once.
    """

    made_from: str = ""
    written: str = ""
    cells: dict[str, str] = field(default_factory=dict)
    offered: str = ""


def read_manifest(path: Path) -> dict[str, Copy]:
    """Name of each copy -> what it was made from. Empty for a file that is missing, damaged or of another format.

    Without a manifest a copy is taken for the learner's work unless it is the course's notebook of today: that keeps
    too much, and never too little.
    """
    try:
        data: Any = json.loads(path.read_bytes())
        if data["format"] != _FORMAT:
            return {}
        return {str(name): _copy(table) for name, table in data["copies"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def write_manifest(path: Path, copies: dict[str, Copy]) -> None:
    """Write all of it. Raises OSError."""
    data = {"format": _FORMAT, "copies": {name: asdict(copy) for name, copy in sorted(copies.items())}}
    write_atomically(path, (json.dumps(data, indent=1) + "\n").encode())


def _copy(table: dict[str, Any]) -> Copy:
    texts = {name: str(table[name]) for name in ("made_from", "written", "offered")}
    return Copy(**texts, cells={str(key): str(value) for key, value in table["cells"].items()})
