"""Guesses what a kernel's build would define, from the files around it: macros, dtypes, template arguments.

A guess is good enough to see whether the twin has the APIs that the kernel uses; the kernel's results mean nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

from gn_tutorial.compiler.dtype_macros import dtype_defines
from gn_tutorial.cpp.entries import scan

#: A dtype that every tutorial kernel accepts, and half the production ones.
_DTYPE = "float16"
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
    if launched := _launched(text, last.name.split("::")[-1], len(last.heads)):
        return f"{last.name}<{launched}>"
    head = re.search(
        rf"template\s*<([^;{{}}]*?)>\s*(?:extern\b[^;{{}}]*?)?__global__[^;{{}}]*?\b{last.name.split('::')[-1]}\s*\(",
        text,
    )
    kinds = [part.split() for part in (head[1] if head else "").split(",")]
    values = []
    for index in range(len(last.heads)):
        words = kinds[index] if index < len(kinds) else []
        if "typename" in words or "class" in words:
            values.append("half")
        else:
            values.append("false" if "bool" in words else "1")
    return f"{last.name}<{', '.join(values)}>"


def _launched(text: str, name: str, most: int) -> str:
    """Return the template arguments of a launch if all are literals, built-in types or constants of the file."""
    known = set(re.findall(r"^(?:static )?constexpr \w+ (\w+)|^#define (\w+)", text, re.MULTILINE))
    names = {one for pair in known for one in pair} | {"true", "false", "half", "float", "bfloat16_t"}
    for arguments in re.findall(rf"\b{name}\s*<([\w\s,]+)>\s*<<<", text):
        words = [word.strip() for word in arguments.split(",")]
        if len(words) <= most and all(word in names or re.fullmatch(r"\d+|u?int\d+_t", word) for word in words):
            return ", ".join(words)
    return ""


def _from_cmake(folder: Path, text: str) -> list[str]:
    """Macros that the CMakeLists.txt beside the source passes on and the source uses."""
    try:
        cmake = re.sub(r"#[^\n]*", "", (folder / "CMakeLists.txt").read_text("utf-8", "replace"))
    except OSError:
        return []
    found = {}
    for name, value in _PASSED.findall(cmake):
        if not re.search(rf"\b{name}\b", text) or name in found:
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
    names = set(re.findall(r"\b(?:ORIG_)?DTYPE_([A-Z]\w*)\b", text))
    names -= set(re.findall(r"#\s*define\s+DTYPE_(\w+)", text))
    return dtype_defines({name.lower(): _DTYPE for name in sorted(names)})
