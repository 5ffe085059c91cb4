"""Guesses what a kernel's build would define, from the files around it: macros, dtypes, template arguments.

A guess is good enough to see whether the twin has the APIs that the kernel uses; the kernel's results mean nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

from gn_tutorial.compiler.dtype_macros import dtype_defines
from gn_tutorial.cpp.directives import definitions
from gn_tutorial.cpp.entries import scan
from gn_tutorial.cpp.queries import calls, template_parameters, words
from gn_tutorial.cpp.structs import constant

#: A dtype that every tutorial kernel accepts, and half the production ones.
_DTYPE = "float16"
_TYPES = frozenset("half float bfloat16_t int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t".split())
_PASSED = re.compile(r"(?:-D|\b)([A-Z_][A-Z0-9_]*)=(\$\{\w+\}|\w+)")


def guess(path: Path, text: str) -> list[str]:
    """Return definitions for the source, ``NAME=VALUE``. text: the source with the headers that lie beside it."""
    return [*_from_cmake(path.parent, text), *_dtypes(text)]


def guess_template(text: str) -> str:
    """Return the last kernel template of a text without kernels, with arguments; empty if there is none.

    The arguments are those of a launch in the text, if they make sense outside its function; else half, false, 1.
    """
    found = scan(text)
    if found.entries or not found.templates:
        return ""
    last = found.templates[-1]
    name = last.name.split("::")[-1]
    if launched := _launched(text, name, len(last.heads)):
        return f"{last.name}<{launched}>"
    kinds = [one.split()[0] for one in template_parameters(text, name)]
    values = {"typename": "half", "class": "half", "bool": "false"}
    return f"{last.name}<{', '.join(values.get(one, '1') for one in kinds)}>"


def _launched(text: str, name: str, most: int) -> str:
    """Return the template arguments of a launch if all are literals, built-in types or constants of the file."""
    known = definitions(text).keys() | _TYPES
    for types in (call.types for call in calls(text, name)):
        if 0 < len(types) <= most and all(one in known or constant(one, {Path(): text}) is not None for one in types):
            return ", ".join(types)
    return ""


def _from_cmake(folder: Path, text: str) -> list[str]:
    """Macros that the CMakeLists.txt beside the source passes on and the source uses."""
    try:
        cmake = re.sub(r"#[^\n]*", "", (folder / "CMakeLists.txt").read_text("utf-8", "replace"))
    except OSError:
        return []
    found: dict[str, str] = {}
    used = set(words(text, directives=True))
    for name, value in _PASSED.findall(cmake):
        if name not in used or name in found:
            continue
        if value.startswith("${"):
            value = _variable(cmake, value[2:-1])
        if value:
            found[name] = value
    return [f"{name}={value}" for name, value in found.items()]


def _variable(cmake: str, name: str) -> str:
    """The default of a CMake variable; where the user has to choose, the first choice of the list named VALID_..."""
    if default := re.search(rf'set\(\s*{name}\s+"?(\w+)"?', cmake):
        return default[1]
    if choices := re.search(rf"{name}\s+IN_LIST\s+(\w+)", cmake):
        listed = re.search(rf"set\(\s*{choices[1]}\s+\"?(\w+)", cmake)
        return listed[1] if listed else ""
    # "SCENARIO_NUM is not set. Please specify -DSCENARIO_NUM=1 or ..."
    asked = re.search(rf"-D{name}=(\w+)", cmake)
    return asked[1] if asked else "1"


def _dtypes(text: str) -> list[str]:
    named = {one.removeprefix("ORIG_") for one in words(text, directives=True)} - definitions(text).keys()
    names = sorted(one.removeprefix("DTYPE_") for one in named if one.startswith("DTYPE_"))
    return dtype_defines({name.lower(): _DTYPE for name in names if name[:1].isupper()})
