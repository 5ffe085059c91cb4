"""Reads the host API's headers: the ctypes types of each function, and the kernels that each operator launches.

A declaration is ``GN_API <type> <name>(<type> <name>, ...);``, often with a comment in front. The comment of an
operator's first call names its kernels as the registry does: ``Kernel: <operator>/<kernel>.``, with commas between
several.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from ctypes import POINTER, c_char_p, c_double, c_float, c_int32, c_int64, c_uint8, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

from gn_tutorial.cpp.queries import prototypes
from gn_tutorial.errors import RegistryError

HostFunc = ctypes.CFUNCTYPE(None, c_void_p)

_NUMBERS = {
    "double": c_double,
    "float": c_float,
    "int32_t": c_int32,
    "int64_t": c_int64,
    "uint8_t": c_uint8,
    "uint32_t": c_uint32,
    "uint64_t": c_uint64,
    "GnDataType": c_int32,
    "GnStatus": c_int32,
}
_HANDLES = ("GnTensor", "GnExecutor", "GnStream")
_TYPES = {
    **_NUMBERS,
    **{f"{name}*": POINTER(one) for name, one in _NUMBERS.items()},
    **dict.fromkeys((f"{name}*" for name in _HANDLES), c_void_p),
    **dict.fromkeys((f"{name}**" for name in _HANDLES), POINTER(c_void_p)),
    "void*": c_void_p,
    "void**": POINTER(c_void_p),
    "char*": c_char_p,
    "GnHostFunc": HostFunc,
}
_KERNELS = re.compile(r"Kernel: (\w+/\w+(?:, \w+/\w+)*)\.")


class Function(NamedTuple):
    """A function of the C interface, with ctypes types. kernels: the registered kernels that its comment names."""

    name: str
    arguments: tuple[Any, ...]
    returns: Any
    kernels: tuple[str, ...]


def read_header(path: Path) -> Iterator[Function]:
    """Yield the functions of a header, in its order. Raises RegistryError for a type that is not in ``_TYPES``."""
    for found in prototypes(path.read_text("utf-8"), "GN_API"):
        where = f"{path}: {found.name}"
        arguments = tuple(_type_of(one, where) for one in found.types)
        listed = _KERNELS.search(found.comment)
        kernels = tuple(listed[1].split(", ")) if listed else ()
        yield Function(found.name, arguments, _type_of(found.returns, where), kernels)


def _type_of(text: str, where: str) -> Any:
    name = text.replace("const ", "").replace(" ", "")
    if name not in _TYPES:
        raise RegistryError(
            f"the type {text.strip()!r} is not known to Python",
            where=where,
            hint=f"add it to {__name__}, or use another",
        )
    return _TYPES[name]
