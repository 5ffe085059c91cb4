"""The pairs of programs under ``programs``: found, built and run, for their test and for the pages of diagnostics.

``programs/<check>/<name>_ok.cpp`` runs to its end; ``..._bad.cpp`` stops with exactly the diagnostic of its
``// expect: <id>`` comment, on that line. ``// blocks: <n>`` asks for more than one block. All are compiled into one
library, to compile the headers once. No pytest here: the lint of the pages runs without it.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import numpy as np

from gn_tutorial.abi import Kind, Role
from gn_tutorial.build import Built, build_kernel
from gn_tutorial.launch import LaunchArg, Launched, launch

PROGRAMS = Path(__file__).parent / "programs"
SOURCES = {
    f"{path.parent.name}/{path.stem}": path
    for path in sorted(PROGRAMS.glob("*/*.cpp"))
    if path.parent.name not in ("families", "apis")
}
EXPECT = re.compile(r"// expect: ([\w-]+)$")
BLOCKS = re.compile(r"^// blocks: (\d+)$", flags=re.MULTILINE)


def expected(path: Path) -> list[tuple[str, int]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(found.group(1), number) for number, line in enumerate(lines, 1) if (found := EXPECT.search(line))]


@functools.cache
def library() -> Built:
    # #line keeps each program's own file and line numbers.
    parts = [f'#line 1 "{path}"\n{path.read_text(encoding="utf-8")}' for path in SOURCES.values()]
    return build_kernel("\n".join(parts), optimise=False)


def run(name: str) -> Launched:
    x = np.arange(1024, dtype=np.float32)
    args = [
        LaunchArg("x", Kind.TENSOR, Role.IN, x),
        LaunchArg("y", Kind.TENSOR, Role.INOUT, np.zeros(1024, np.float32)),
    ]
    blocks = BLOCKS.search(SOURCES[name].read_text(encoding="utf-8"))
    return launch(
        library().library, name.replace("/", "_"), args, blocks=int(blocks.group(1)) if blocks else 1, isolated=False
    )
