"""Finds public sources for tests, in the folder that GNT_PUBLIC_CODE names. Nothing of them is in this repository.

It has ``asc`` (asc-devkit), ``hub`` (cann-learning-hub) and ``nn`` (ops-nn), or some of them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_NOWHERE = "/nowhere"


def public_code(*path: str) -> Path:
    """Return the path of a file or folder of the public sources, whether it exists or not."""
    return Path(os.environ.get("GNT_PUBLIC_CODE") or _NOWHERE).joinpath(*path)


def needs(*paths: Path) -> pytest.MarkDecorator:
    """Return a mark that skips a test, or a module's tests, if one of these paths does not exist."""
    missing = [str(path) for path in paths if not path.exists()]
    return pytest.mark.skipif(bool(missing), reason=f"GNT_PUBLIC_CODE names no folder with {', '.join(missing)}")
