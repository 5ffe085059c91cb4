"""Fills new projects from the course's own operator packages, ``kernels/projects/<name>``.

A package's folder has the files that are written by hand: the host files, the kernels' entries and their header, the
cases of the tests, and ``course_package.toml``, which names the package's operators. The entries use the kernels of
``kernels/``, so a packed project has copies of the kernels' headers and builds wherever it is put (``packing``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gn_tutorial.cpp.includes import Include, includes, with_includes
from gn_tutorial.cpp.queries import calls
from gn_tutorial.cpp.rewrites import without_calls
from gn_tutorial.cpp.structs import read_struct
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators.prototype import op_type, prototype
from gn_tutorial.operators.registry import kernels_root
from gn_tutorial.projects import project_texts as texts
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.prototype_file import read_prototypes
from gn_tutorial.toml_file import read_toml

#: The file that makes a folder a package of the course.
MARK = "course_package.toml"
_REGISTERS = "REGISTER_TILING_DEFAULT"


@dataclass(frozen=True)
class CoursePackage:
    """One package of the course. root: its folder. operators: the registered names of its operators."""

    root: Path
    operators: tuple[str, ...]


def read_package(root: Path) -> CoursePackage | None:
    """Return the package in folder ``root``, None if there is none.

    Raises RegistryError if the package's MARK cannot be read or names no operators.
    """
    mark = root / MARK
    if not mark.is_file():
        return None
    names = read_toml(mark, "a package of the course").get("operators")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise RegistryError("a package of the course names no operators", where=str(mark), hint='operators = ["name"]')
    return CoursePackage(root, tuple(names))


def course_packages() -> tuple[CoursePackage, ...]:
    """Return every package of the course, ordered by name.

    Raises RegistryError if the course's kernels are missing, and as ``read_package``.
    """
    found = (read_package(mark.parent) for mark in sorted((kernels_root() / "projects").glob(f"*/{MARK}")))
    return tuple(one for one in found if one is not None)


def fill(
    files: Mapping[str, str], ops: Sequence[OpDefinition], layout: str, config: str, packages: Iterable[CoursePackage]
) -> dict[str, str]:
    """Return the files of a new project of ``ops``, with the gaps filled from the packages.

    Raises ArgumentError for an operator that no package has, or whose prototype differs; RegistryError for a file of a
    package that cannot be read.
    """
    own = {op_type(name): (name, package) for package in packages for name in package.operators}
    found = dict(files)
    for op in ops:
        if op.type not in own or not _same(op, own[op.type][0], config):
            raise ArgumentError(
                f"{op.type} cannot be filled in",
                hint=f"only {', '.join(own)}, with the prototypes that `gnt dev prototype` prints, can be",
            )
        _fill_operator(found, own[op.type][1].root, op, layout == "9.x", config)
    return found


def _same(op: OpDefinition, name: str, config: str) -> bool:
    """Whether ``op`` equals the course's definition of the operator ``name``, except for the chips."""
    wanted = read_prototypes(prototype(name), config)[0]
    return dataclasses.replace(op, chips=wanted.chips) == wanted


def _fill_operator(files: dict[str, str], root: Path, op: OpDefinition, plain: bool, config: str) -> None:
    snake = op.snake_name
    host, entry = f"op_host/{snake}.cpp", f"op_kernel/{snake}.cpp"
    headers = _headers(root, snake)
    text = _read(root / host).replace('AddConfig("ascend910b")', f'AddConfig("{config}")')
    kernel = _read(root / entry)
    if plain:
        del files[f"op_kernel/{snake}_tiling.h"]
        files |= {f"op_kernel/{place}": content for place, content in headers.items()}
        files |= {host: text, entry: kernel}
    else:
        _fill_macros(files, root, op, headers, text, kernel)
    gap = next(name for name in files if name.endswith("/gen_data.py") and _is_of(name, snake, files))
    files[gap] = _read(root / "test" / snake / "gen_data.py")


def _fill_macros(
    files: dict[str, str], root: Path, op: OpDefinition, headers: Mapping[str, str], host: str, kernel: str
) -> None:
    """Fill a project of layout 8.x.

    Its build reads the struct's fields from macros, and needs all kernel files in one folder without subfolders.
    """
    snake, name = op.snake_name, f"{op.type}TilingData"
    registered = next(calls(kernel, _REGISTERS)).arguments[0]
    struct = read_struct(registered, {Path(place): text for place, text in headers.items()})
    if struct is None:
        raise RegistryError(f"the fields of {registered} cannot be read", where=str(root))
    ctypes = {"u4": "uint32_t", "i4": "int32_t", "f4": "float"}
    fields = "\n".join(f"TILING_DATA_FIELD_DEF({ctypes[one.dtype.str[1:]]}, {one.name});" for one in struct.fields)
    guard = f"{snake.upper()}_TILING_H_"
    files[f"op_host/{snake}_tiling.h"] = texts.render(
        "tiling_macro.h", {"op": op.type, "struct": name, "guard": guard, "fields": fields}
    )
    # The host fills the plain struct. The macro struct has the same bytes: each field has four bytes, and the number of
    # fields is even, so neither struct has padding.
    own = f'#include "../op_kernel/%s"\n#include "{snake}_tiling.h"'
    host = with_includes(host, lambda one: own % _file(one) if one.name.startswith("../op_kernel/") else None)
    # Some toolkits of 8.x lack SetScheduleMode. The kernel works without the call, because the tiling never asks for
    # more blocks than cores.
    files[f"op_host/{snake}.cpp"] = without_calls(host, "SetScheduleMode")
    files[f"op_kernel/{snake}.cpp"] = _flat(without_calls(kernel, _REGISTERS))
    # The build of 8.x copies the files of op_kernel, but not its subfolders.
    files |= {f"op_kernel/{PurePosixPath(place).name}": _flat(text) for place, text in headers.items()}


def _headers(root: Path, snake: str) -> dict[str, str]:
    """Return path below op_kernel -> text of every header that the kernel's entry includes at any depth, except CANN's.

    The package's headers go beside the entry; headers of ``kernels/`` keep their folders.
    """
    entry = root / "op_kernel" / f"{snake}.cpp"
    # Use the kernels of the package's own clone. If the package was copied elsewhere, there are no kernels beside it;
    # then use those of this course.
    beside = root.parent.parent
    kernels = beside if (beside / "common").is_dir() else kernels_root()
    found: dict[str, str] = {}
    waiting = [(PurePosixPath(entry.name), _read(entry))]
    while waiting:
        place, text = waiting.pop()
        for one in includes(text):
            if not one.quoted or one.name == "kernel_operator.h":
                continue
            at = PurePosixPath(*_normal((place.parent / one.name).parts))
            if str(at) not in found:
                found[str(at)] = _read((entry.parent if len(at.parts) == 1 else kernels) / at)
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
    return with_includes(text, lambda one: f'#include "{_file(one)}"' if one.quoted else None)


def _file(include: Include) -> str:
    return PurePosixPath(include.name).name


def _is_of(name: str, snake: str, files: Mapping[str, str]) -> bool:
    main = files[name.replace("gen_data.py", "main.cpp")]
    return any(one.name == f"aclnn_{snake}.h" for one in includes(main))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RegistryError(
            f"a file of the course's package cannot be read: {error.strerror}", where=str(path)
        ) from error
