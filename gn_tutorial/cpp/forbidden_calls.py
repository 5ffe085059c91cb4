"""The names that a task forbids in the kernel: called, taken by address, or brought in by using, alias and macro."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from gn_tutorial.cpp.code_text import code, includes, line_of

#: A function's name where it is defined, behind a type and the word that every function of a kernel has; a lambda's.
_FUNCTION = re.compile(r"__aicore__[\w\s:<>,*&]*?\b(\w+)\s*\(|\bauto\s+(\w+)\s*=\s*\[")
_TYPE_OR_MACRO = re.compile(r"\b(?:class|struct|enum|union)\s+(\w+)|#[ \t]*define[ \t]+(\w+)|\busing\s+(\w+)\s*=")
_ENUMERATORS = re.compile(r"\benum\b[^{};]*\{([^}]*)\}")
_ALIAS = re.compile(r"\bnamespace\s+(\w+)\s*=\s*(?:::\s*)?AscendC\s*;")
_HEADER = re.compile(r"(?:lib|adv_api)/.+")
#: A word before a name that makes no declaration of it.
_NO_TYPE = "return|using|else|do|case|goto|new|delete|throw|typedef|namespace"


@dataclass(frozen=True)
class Broken:
    """A rule of the task that an attempt breaks, and where."""

    what: str
    where: str


def forbidden(names: Collection[str], kernels: Mapping[str, str]) -> Broken | None:
    """The first use of a high-level API in the kernel's files (name -> text), or None.

    Comments and strings may have the names. So may what the candidate declares: a function, a type, a variable; with
    ``AscendC::``, or an alias of that namespace, before it, a name is the library's all the same.
    """
    texts = {name: code(text) for name, text in kernels.items()}
    whole = "\n".join(texts.values())
    own = {one for kind in (_FUNCTION, _TYPE_OR_MACRO) for found in kind.findall(whole) for one in found if one}
    library = rf"\b(?:{'|'.join(('AscendC', *_ALIAS.findall(whole)))})\s*::\s*"
    for file, text in texts.items():
        found = [
            *((line, header) for line, header in includes(kernels[file]) if _HEADER.fullmatch(header)),
            *((line_of(text, at), name) for name in names for at in _uses(name, text, whole, library, name in own)),
        ]
        if found:
            line, name = min(found)
            return Broken(f"{name} is a high-level API, which this task forbids: it scores nothing", f"{file}:{line}")
    return None


def _uses(name: str, text: str, whole: str, library: str, own: bool) -> Iterator[int]:
    """Places where ``name`` is the library's."""
    yield from (found.start() for found in re.finditer(rf"{library}{name}\b", text))
    if own:
        return
    yield from (found.start() for found in re.finditer(rf"(?<![\w.>]){name}\s*[<(]", text))
    if not _declared(name, whole):
        yield from (found.start() for found in re.finditer(rf"(?<![\w.:])(?<!->){name}\b", text))


def _declared(name: str, text: str) -> bool:
    """Whether a variable, a parameter or a constant of the candidate's has the name."""
    kind = rf"\b(?!(?:{_NO_TYPE})\b)[A-Za-z_]\w*(?:\s*<[^;{{}}()]*>)?"
    if re.search(rf"{kind}(?:\s+|\s*[&*]+\s*){name}\b\s*[;=,){{\[:>]", text):
        return True
    return any(re.search(rf"\b{name}\b", body) for body in _ENUMERATORS.findall(text))
