"""Whether each official page that the theory bank cites is in a clone of the documentation's repository, asc-devkit.

    python tools/pages/check_theory_pages.py CLONE [REVISION]

CLONE: a clone, or its git directory. REVISION: the one of ``exercises/theory/pages.toml`` unless given; ``HEAD`` shows
what has moved since. Ends with 1 and names the pages that are missing.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

PAGES = Path(__file__).resolve().parents[2] / "exercises" / "theory" / "pages.toml"


def missing(clone: str, revision: str, paths: list[str]) -> list[str]:
    """Return the paths that the revision does not have."""
    command = ["git", "-C", clone, "-c", "core.quotepath=off", "ls-tree", "-r", "--name-only", revision]
    there = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())
    return [path for path in paths if path not in there]


def main() -> None:
    """Check the pages."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    known = tomllib.loads(PAGES.read_text(encoding="utf-8"))
    revision = sys.argv[2] if len(sys.argv) == 3 else known["revision"]
    paths = [page["path"] for page in known["pages"].values()]
    gone = missing(sys.argv[1], revision, paths)
    if gone:
        sys.exit("\n".join([f"{len(gone)} of {len(paths)} pages are not in {revision}:", *gone]))
    print(f"all {len(paths)} pages are in {revision}")


if __name__ == "__main__":
    main()
