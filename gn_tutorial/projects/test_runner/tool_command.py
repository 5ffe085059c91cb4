"""A command of a test's script, as a stand-in tool in the script's PATH sends it, and the answer to the tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ToolCommand:
    """One command of a script. words: its arguments, without the tool's name. folder: its working folder."""

    tool: str
    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]


@dataclass(frozen=True)
class ToolAnswer:
    """The tool's exit code and output."""

    code: int = 0
    out: str = ""
    err: str = ""
