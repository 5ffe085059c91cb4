"""The course's own operator package, ``kernels/projects/group_norm``: what fills a new project of its operators.

What is written by hand there are the host files, the kernels' entries and the cases of the tests. The kernels behind
the entries are those of ``kernels/``: a project has copies of their headers, so that it builds wherever it is put.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from gn_tutorial.cpp.tiling_fields import read_struct
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators.prototype import op_type, prototype
from gn_tutorial.operators.registry import kernels_root
from gn_tutorial.projects import project_texts as texts
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.prototype_file import read_prototypes

#: The operators of the package, as the registry calls them.
OPERATORS = ("group_norm", "group_norm_backward")
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_STRUCT = re.compile(r"^  REGISTER_TILING_DEFAULT\((\w+)\);\n", re.MULTILINE)


def package_root() -> Path:
    """The package's folder. Raises RegistryError where the course's kernels are missing."""
    return kernels_root() / "projects" / "group_norm"


def fill(files: Mapping[str, str], ops: Sequence[OpDefinition], layout: str, config: str) -> dict[str, str]:
    """The files of a new project of ``ops`` with what the package has in place of the gaps.

    Raises ArgumentError for an operator that is not the package's, or whose prototype is not.
    """
    own = {op_type(name): name for name in OPERATORS}
    found = dict(files)
    for op in ops:
        if op.type not in own or not _same(op, own[op.type], config):
            raise ArgumentError(
                f"{op.type} cannot be filled in",
                hint=f"only {', '.join(own)}, with the prototypes that `gnt dev prototype` prints, are there whole",
            )
        _fill_operator(found, op, layout == "9.x", config)
    return found


def _same(op: OpDefinition, name: str, config: str) -> bool:
    """Whether these are the package's inputs, outputs and attributes, whatever the columns' order."""
    wanted = read_prototypes(prototype(name), config)[0]
    return dataclasses.replace(op, chips=wanted.chips) == wanted


def _fill_operator(files: dict[str, str], op: OpDefinition, plain: bool, config: str) -> None:
    root, snake = package_root(), op.snake_name
    host, entry = f"op_host/{snake}.cpp", f"op_kernel/{snake}.cpp"
    headers = _headers(root / entry)
    text = _read(root / host).replace('AddConfig("ascend910b")', f'AddConfig("{config}")')
    kernel = _read(root / entry)
    if plain:
        del files[f"op_kernel/{snake}_tiling.h"]
        files |= {f"op_kernel/{place}": content for place, content in headers.items()}
        files |= {host: text, entry: kernel}
    else:
        _fill_macros(files, op, headers, text, kernel)
    gap = next(name for name in files if name.endswith("/gen_data.py") and _is_of(name, snake, files))
    files[gap] = _read(root / "test" / snake / "gen_data.py")


def _fill_macros(files: dict[str, str], op: OpDefinition, headers: Mapping[str, str], host: str, kernel: str) -> None:
    """The layout of 8.x: the struct's fields as macros too, because its build reads them there, and one flat folder."""
    snake, name = op.snake_name, f"{op.type}TilingData"
    registered = _STRUCT.search(kernel)
    assert registered, f"{snake}.cpp registers its tiling struct"
    struct = read_struct(registered[1], {place: re.sub(r"//[^\n]*", "", text) for place, text in headers.items()})
    if struct is None:
        raise RegistryError(f"the fields of {registered[1]} cannot be read", where=str(package_root()))
    ctypes = {"u4": "uint32_t", "i4": "int32_t", "f4": "float"}
    fields = "\n".join(f"TILING_DATA_FIELD_DEF({ctypes[one.dtype.str[1:]]}, {one.name});" for one in struct.fields)
    guard = f"{snake.upper()}_TILING_H_"
    files[f"op_host/{snake}_tiling.h"] = texts.render(
        "tiling_macro.h", {"op": op.type, "struct": name, "guard": guard, "fields": fields}
    )
    # The struct that the host fills has the same bytes: fields of four bytes each, an even number of them.
    host = re.sub(
        r'#include "\.\./op_kernel/\w+/(\w+_tiling\.h)"',
        rf'#include "../op_kernel/\1"\n#include "{snake}_tiling.h"',
        host,
    )
    # Toolkits of 8.x do not all have it; the blocks are never more than the cores.
    host = re.sub(r"^  context->SetScheduleMode\(1\);[^\n]*\n", "", host, flags=re.MULTILINE)
    files[f"op_host/{snake}.cpp"] = host
    files[f"op_kernel/{snake}.cpp"] = _flat(_STRUCT.sub("", kernel))
    # The build of 8.x copies the files of op_kernel, and no folders in it.
    files |= {f"op_kernel/{PurePosixPath(place).name}": _flat(text) for place, text in headers.items()}


def _headers(entry: Path) -> dict[str, str]:
    """Path below op_kernel -> text of every header that a kernel's entry reaches, but CANN's own.

    Those of the package lie beside the entry; the others are the course's, in the folders that they have there.
    """
    found: dict[str, str] = {}
    waiting = [(PurePosixPath(entry.name), _read(entry))]
    while waiting:
        place, text = waiting.pop()
        for name in _INCLUDE.findall(text):
            if name == "kernel_operator.h":
                continue
            at = PurePosixPath(*_normal((place.parent / name).parts))
            if str(at) not in found:
                beside = entry.parent / at
                found[str(at)] = _read(beside if len(at.parts) == 1 else kernels_root() / at)
                waiting.append((at, found[str(at)]))
    return found


def _normal(parts: Sequence[str]) -> list[str]:
    left: list[str] = []
    for part in parts:
        if part == "..":
            left.pop()
        else:
            left.append(part)
    return left


def _flat(text: str) -> str:
    return _INCLUDE.sub(lambda found: f'#include "{PurePosixPath(found[1]).name}"', text)


def _is_of(name: str, snake: str, files: Mapping[str, str]) -> bool:
    return f'"aclnn_{snake}.h"' in files[name.replace("gen_data.py", "main.cpp")]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RegistryError(
            f"a file of the course's package cannot be read: {error.strerror}", where=str(path)
        ) from error
