"""A command of a test's script, as the tool in its PATH passes it on, and what is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ToolCommand:
    """words: without the tool itself."""

    tool: str
    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]


@dataclass(frozen=True)
class ToolAnswer:
    """What the tool ends with and prints."""

    code: int = 0
    out: str = ""
    err: str = ""
