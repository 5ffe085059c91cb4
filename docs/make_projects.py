"""``kernels/projects``: what the generator of projects makes of the course's operators: `./gnt lint projects --fix`.

A project has copies of the kernels' headers, because it builds wherever it is put; ``kernels/`` stays their source.
``--check`` writes nothing, names the files that differ, and ends with 1.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gn_tutorial.operators.prototype import prototype  # noqa: E402
from gn_tutorial.projects.new_project import new_project  # noqa: E402
from gn_tutorial.projects.own_package import OPERATORS, package_root  # noqa: E402

_SKIPPED = frozenset({"__pycache__"})


def make(folder: Path) -> Path:
    """The package as the generator makes it today, below ``folder``."""
    return new_project([prototype(name) for name in OPERATORS], folder / package_root().name, filled=True)


def differences(made: Path, kept: Path) -> list[str]:
    """Files that only one of the two has, or that differ; sorted."""
    made_files, kept_files = _files(made), _files(kept)
    names = made_files.keys() | kept_files.keys()
    return sorted(name for name in names if made_files.get(name) != kept_files.get(name))


def _files(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and _SKIPPED.isdisjoint(path.parts)
    }


def main() -> None:
    """Write or check the package."""
    kept = package_root()
    with tempfile.TemporaryDirectory() as folder:
        made = make(Path(folder))
        differ = differences(made, kept)
        if differ and "--check" in sys.argv[1:]:
            sys.exit(
                f"{kept.name}: {', '.join(differ)}: not what the generator makes; repair: ./gnt lint projects --fix"
            )
        for name in differ:
            if (made / name).exists():
                (kept / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(made / name, kept / name)
            else:
                (kept / name).unlink()


if __name__ == "__main__":
    main()
