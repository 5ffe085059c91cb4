"""Writes a folder with everything that a C program needs to call an operator: headers, libraries, an example.

A module of its own, because the modules of commands only declare arguments.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from gn_tutorial.compiler.build_request import TWIN
from gn_tutorial.errors import ArgumentError
from gn_tutorial.host import c_library
from gn_tutorial.operators.registry import kernels_root

#: The file name of the host library, which looks for kernels in its own folder, as ``<entry>.so``.
LIBRARY = "libgn_host.so"
EXAMPLE = "example.c"


def write(folder: Path, *, observed: bool = False) -> list[Path]:
    """Write headers, host library, kernels and an example to ``folder``, creating it. Return the sorted files.

    observed: whether the kernels have the twin's checks. Files of the same names are replaced. Raises ArgumentError if
    the folder cannot be written, and the errors of ``build_library`` and ``build_kernels``.
    """
    api, twin = kernels_root() / "host_api", TWIN / "host"
    sources = {one.name: one for one in (*api.glob("gn_*.h"), *twin.glob("gn_*.h"), api / EXAMPLE)}
    sources[LIBRARY] = c_library.build_library()
    sources |= {f"{entry}.so": path for entry, path in c_library.build_kernels(observed=observed).items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, source in sources.items():
            # Replace the file instead of writing into it: a program that has it loaded would crash.
            made = folder / f".{name}.new"
            shutil.copyfile(source, made)
            made.replace(folder / name)
    except OSError as error:
        raise ArgumentError(
            f"the folder cannot be written: {error.strerror or error}", where=str(folder), hint="choose another one"
        ) from error
    return [folder / name for name in sorted(sources)]


def compile_command(folder: Path) -> str:
    """Return the shell command that compiles and runs the example in ``folder``.

    The program finds the libraries beside itself.
    """
    compiled = f"cc -std=c99 -Wall -Wextra {EXAMPLE} -o example -L. -lgn_host -Wl,-rpath,'$ORIGIN'"
    return f"cd {shlex.quote(str(folder))} && {compiled} && ./example"
