"""TOML files that the package itself brings, or an author writes."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from gn_tutorial.errors import RegistryError


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """The file's keys. Raises RegistryError that says that ``what`` cannot be read, where, and why."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RegistryError(f"cannot read {what}: {error}", where=str(path)) from error
