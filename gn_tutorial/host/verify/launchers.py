"""Launchers of registered kernels for an NPU, beyond those that the host API needs: written, for one build.

``kernels/npu`` has an ``.asc`` file for each kernel that the host API launches. ``gnt npu verify`` runs all registered
kernels, so it writes the same file for each of the others into a folder that CMake is told of.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gn_tutorial.abi.structs import ArgKind
from gn_tutorial.cpp.entries import Param
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.registry import kernels_root
from gn_tutorial.operators.spec import KernelSpec, OpSpec

_TEXT = """\
// The kernel {entry}, unchanged, and its launcher. Written by gnt npu verify.
#include "../{file}"
#include "launchers.h"

extern "C" void gn_launch_{entry}(uint32_t blocks, void* stream, void* const* args) {{
{lines}
  {entry}<<<blocks, 0, stream>>>({names});
}}
"""


def write_launchers(kernels: Iterable[tuple[OpSpec, KernelSpec]], folder: Path) -> list[str]:
    """An ``.asc`` file for each kernel that has none in ``kernels/npu``; returns their entries.

    Other ``.asc`` files leave the folder. One that is there and right is not touched, so it is not compiled again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    there = {path.stem for path in (kernels_root() / "npu").glob("*.asc")}
    texts = {
        spec.entry: _launcher(spec, Kernel.registered(op, spec).entry(spec.entry).params)
        for op, spec in kernels
        if spec.entry not in there
    }
    for path in folder.glob("*.asc"):
        if path.stem not in texts:
            path.unlink()
    for entry, text in texts.items():
        path = folder / f"{entry}.asc"
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
    return list(texts)


def _launcher(spec: KernelSpec, params: Iterable[Param]) -> str:
    params = list(params)
    lines = [f"  {_argument(param, at)}" for at, param in enumerate(params)]
    file = spec.file.resolve().relative_to(kernels_root().resolve()).as_posix()
    names = ", ".join(param.name for param in params)
    return _TEXT.format(entry=spec.entry, file=file, lines="\n".join(lines), names=names)


def _argument(param: Param, at: int) -> str:
    if param.kind != ArgKind.VALUE:
        return f"uint8_t* const {param.name} = static_cast<uint8_t*>(args[{at}]);"
    return f"const {param.ctype} {param.name} = *static_cast<const {param.ctype}*>(args[{at}]);"
