"""Where tests find fetched public sources: the folder that GNT_PUBLIC_CODE names. Nothing of it is in this repository.

It holds ``asc`` (asc-devkit), ``hub`` (cann-learning-hub) and ``nn`` (ops-nn), or some of them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_NOWHERE = "/nowhere"


def public_code(*path: str) -> Path:
    """A file or folder of the fetched sources, whether it is there or not."""
    return Path(os.environ.get("GNT_PUBLIC_CODE") or _NOWHERE).joinpath(*path)


def needs(*paths: Path) -> pytest.MarkDecorator:
    """Skips a test, or a module's tests, where one of these paths is not there."""
    missing = [str(path) for path in paths if not path.exists()]
    return pytest.mark.skipif(bool(missing), reason=f"GNT_PUBLIC_CODE names no folder with {', '.join(missing)}")
