"""``gnt host-library``: the folder for a C program, and what to do with it."""

from __future__ import annotations

from pathlib import Path

from gn_tutorial.cli.terminal import emit_json, print_table, working
from gn_tutorial.host import export

_WHAT = {
    "gn_host_api.h": "the C interface: what all operators share",
    "gn_host_twin.h": "what only the twin has",
    export.LIBRARY: "the host API, with the twin as the device",
    export.EXAMPLE: "a whole call, in C99",
}


def run(folder: Path, *, observed: bool, as_json: bool) -> None:
    """Write the folder and say how to compile the example."""
    with working("compiling the host API and its kernels"):
        files = export.write(folder, observed=observed)
    command = export.compile_command(folder)
    if as_json:
        emit_json({"files": files, "compile": command})
        return
    print_table(("file", "what it is"), [(str(file), _what(file)) for file in files])
    print(f"compile and run the example:\n  {command}")


def _what(file: Path) -> str:
    return _WHAT.get(file.name, "the C interface of an operator" if file.suffix == ".h" else "a kernel library")
