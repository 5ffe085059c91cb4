"""Reads the TOML files of the package and of authors, and finds the course's folders and the learner's."""

from __future__ import annotations

import difflib
import os
import re
import time
import tomllib
from collections.abc import Hashable
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from gn_tutorial.errors import RegistryError, shown

PACKAGE = Path(__file__).resolve().parent
# A file that changed less than this long ago may change again and keep its time stamp. FAT stores times in steps of two
# seconds; no other file system in use has longer steps (older NFS: one second).
REST_NANOSECONDS = 2_000_000_000
_Shape = TypeVar("_Shape")
#: msgspec's name of a type -> its name in our error messages.
_EXPECTED = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false", "array": "a list",
    "object": "a table",
}  # fmt: skip


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Return the contents of a TOML file. Raises RegistryError, which names ``what``, the file and the reason."""
    try:
        if path.exists() and not path.is_file():  # reading a pipe would block, and /dev/zero has no end
            raise OSError("it is no regular file")
        return parse_toml(path.read_bytes())
    except (OSError, ValueError) as error:
        raise RegistryError(f"cannot read {what}: {error}", where=str(path)) from error


def parse_toml(data: bytes) -> dict[str, Any]:
    """Return the contents of a TOML file from its bytes, with or without a byte-order mark. Raises ValueError."""
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise
    except ValueError:  # an integer with more digits than Python converts
        raise ValueError("a number in it has more than 4300 digits") from None
    except RecursionError:  # thousands of nested brackets
        raise ValueError("its brackets are nested too deeply") from None


def decode(path: Path, shape: type[_Shape], what: str, **known: Any) -> _Shape:
    """Return the file's data as ``shape``, a type that msgspec knows. Raises as ``read_toml`` and ``convert`` do.

    known: further keys and their values, which follow from the file's place and are not in the file.
    """
    return convert(read_toml(path, what) | known, shape, str(path))


def convert(data: Any, shape: type[_Shape], where: str) -> _Shape:
    """Return plain data as ``shape``, a type that msgspec knows. A ``dict`` in ``shape`` must have plain ``str`` keys.

    Raises RegistryError for a key that is missing or unknown, for a value of the wrong type or outside the limits of
    its type, and for a ValueError of a struct's ``__post_init__``. The error says what the file has and what is
    expected. The error's place is ``where``, followed by the tables that lead to the key:
    ``op.toml [[kernels]] 2 tolerance``.
    """
    import msgspec  # imported here, because the playground's page imports this module, but has no msgspec

    try:
        return msgspec.convert(data, shape)
    except msgspec.ValidationError as error:
        found = re.fullmatch(r"(.*) - at `\$(.*)`", str(error), re.DOTALL)
        message, path = found.groups() if found else (str(error), "")
        message = re.sub("^Number out of range$", "Expected `float` below 1.8e308", message)
        raise _refused(message, re.findall(r"\w+|\.\.\.", path), data, shape, where) from error


def _refused(message: str, path: list[str], value: Any, shape: Any, where: str) -> RegistryError:
    """Return msgspec's error ``message`` in our words. value: the whole data. path: the steps to its wrong part."""
    import msgspec

    steps, key, table = [], "", where
    for step in path:
        shape = _below(shape, step)
        if isinstance(value, list):
            value, name = value[int(step)], str(int(step) + 1)
        else:
            # msgspec writes "..." for any key of a dict, so take the first key whose value does not fit.
            name = next(one for one in value if not _fits(value[one], shape)) if step == "..." else step
            value, key, table = value[name], name, _place(where, steps)
        steps.append(name)
    place = _place(where, steps)
    if found := re.fullmatch("Object missing required field `(.+)`", message):
        return RegistryError(f"'{found[1]}' is missing", where=place)
    if found := re.fullmatch("Object contains unknown field `(.+)`", message):
        struct = _whole(shape)
        known = sorted(one.encode_name for one in msgspec.structs.fields(struct))
        near = difflib.get_close_matches(found[1], known, n=1)
        kind = re.sub("(?<=[a-z])(?=[A-Z])", " ", struct.__name__.strip("_")).lower()
        return RegistryError(
            f"'{found[1]}' is not a key of {'an' if kind[0] in 'aeiou' else 'a'} {kind}",
            where=place,
            hint=f"did you mean '{near[0]}'?" if near else f"keys: {', '.join(known)}",
        )
    if path and path[-1].isdigit():
        table = place  # an item of a list has no key, so the place includes its number
    if get_origin(_whole(shape)) is Literal:
        choices = ", ".join(str(one) for one in get_args(_whole(shape)) if one != "")
        return RegistryError(f"'{key}' is {shown(value)}", where=table, hint=f"one of {choices}")
    if found := re.fullmatch("Expected `(.+?)`(.*?)(, got .+)?", message, re.DOTALL):
        listed = found[1].replace("int | float", "float").split(" | ")
        kinds = " or ".join(_EXPECTED.get(one, one) for one in listed if one != "null")
        if not key:
            return RegistryError(f"{kinds} is expected, not {shown(value)}", where=table)
        wrong = "is" if found[2] else "has a value of the wrong type:"
        limit = re.sub(r" (of length >= 1|matching regex '\\\\S')$", " that is not empty", found[2])
        return RegistryError(f"'{key}' {wrong} {shown(value)}", where=table, hint=f"{kinds}{limit} is expected")
    return RegistryError(message, where=place)


def _fits(value: Any, shape: Any) -> bool:
    import msgspec

    try:
        msgspec.convert(value, shape)
    except msgspec.ValidationError:
        return False
    return True


def _below(shape: Any, step: str) -> Any:
    """Return the type of part ``step`` of ``shape``: a struct's key, a list's item, or, for "...", a dict's value."""
    import msgspec

    shape = _whole(shape)
    if isinstance(shape, type) and issubclass(shape, msgspec.Struct):
        return next(one.type for one in msgspec.structs.fields(shape) if one.encode_name == step)
    return get_args(shape)[step == "..."]


def _whole(shape: Any) -> Any:
    """Return a type without the limits of Annotated and without the None of a union."""
    while get_origin(shape) in (Annotated, Union, UnionType):
        shape = next(one for one in get_args(shape) if one is not type(None))
    return shape


def _place(where: str, steps: list[str]) -> str:
    if not steps:
        return where
    first = f"[[{steps[0]}]]" if len(steps) > 1 and steps[1].isdigit() else f"[{steps[0]}]"
    return " ".join([where, first, *steps[1:]])


def course_file(name: str) -> str:
    """Return a path to the course's file ``name``, such as ``tests/programs/memory/overflow_bad.cpp``.

    The course's pages print such names, which are paths from the top of a clone. The returned path leads to the file
    from every current folder. The name is returned unchanged if the current folder has such a file, if the course does
    not have it, or if it does not begin with ``kernels`` or ``tests``.
    """
    inside = Path(name)
    if inside.suffix and inside.parts[0] in ("kernels", "tests") and not inside.exists():
        for top in (f"_{inside.parts[0]}", f"../{inside.parts[0]}"):
            found = PACKAGE.joinpath(top, *inside.parts[1:])
            if found.is_file():
                return str(found.resolve())
    return name


def learners_folder(variable: str, root: Path, beside: str, installed: str) -> Path:
    """Return a learner's folder: the folder that the environment variable ``variable`` names, or the default.

    root: a folder of the course. In a clone the default is the folder ``beside`` next to ``root``. For an installed
    package, whose course folders begin with ``_``, the default is the folder ``installed`` in the home folder.
    """
    chosen = os.environ.get(variable)
    if chosen:
        return Path(chosen).expanduser().absolute()
    return Path.home() / installed if root.name.startswith("_") else root.parent / beside


def course_folder(name: str, mark: str) -> Path:
    """Return the course's folder ``name`` (``kernels``, ``exercises``), inside the package or beside it.

    mark: a pattern that a file in the folder matches. The package's own copy is searched first, because another
    distribution may own a ``kernels`` folder next to it in ``site-packages``. Raises RegistryError if there is none.
    """
    places = (PACKAGE / f"_{name}", PACKAGE.parent / name)
    for folder in places:
        if any(folder.glob(mark)):
            return folder
    raise RegistryError(
        f"the folder {name} is missing",
        where=" and ".join(map(str, places)),
        hint="install the package again, or clone the repository again",
    )


def look_of(path: Path) -> Hashable:
    """Return a value that changes when the file is edited or replaced, for caches of its contents; None for no file.

    For a file that was saved less than REST_NANOSECONDS ago, each call returns another value. Such a file could be
    saved again with the same size and the same time stamp, and the change would then not show.
    """
    try:
        now = path.stat()
    except OSError:
        return None
    if time.time_ns() - max(now.st_mtime_ns, now.st_ctime_ns) < REST_NANOSECONDS:
        return object()
    return now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino
