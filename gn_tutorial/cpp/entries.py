"""Finds the kernel entries in Ascend C source text: their names, parameters and lines.

An entry is a function marked ``__global__``, in either of the two spellings CANN accepts:

    extern "C" __global__ __aicore__ void f(GM_ADDR x, ...)
    __global__ __vector__ void f(__gm__ uint8_t* x, uint32_t n)

``marked_functions`` reads their declarations; this module says which of them can be launched, and how.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gn_tutorial.abi.structs import ArgKind
from gn_tutorial.cpp.includes import with_live_lines
from gn_tutorial.errors import ArgumentError, CompileError

LOOKED_FOR = 'extern "C" __global__ __aicore__ void my_kernel(GM_ADDR x, GM_ADDR y) { ... }'


@dataclass(frozen=True)
class Param:
    """One parameter: its type as written (``uint8_t*``), its name (``arg0`` if it has none), and how it is passed."""

    ctype: str
    name: str
    kind: ArgKind


@dataclass(frozen=True)
class Entry:
    """One kernel entry; ``line`` is the line of its name in the source, counted from 1.

    name: as the host calls it, with its namespaces and, for an instance of a template, its arguments: ``k<float, 16>``.
    """

    name: str
    params: tuple[Param, ...]
    line: int


@dataclass(frozen=True)
class Template:
    """A kernel template: launchable once its arguments are given. ``heads`` are its parameters' names, in order."""

    name: str
    params: tuple[Param, ...]
    line: int
    heads: tuple[str, ...]

    def instance(self, arguments: str) -> Entry:
        """The entry ``name<arguments>``, with the arguments put into the types of its parameters."""
        given = dict(zip(self.heads, _split_arguments(arguments), strict=False))

        def put(ctype: str) -> str:
            return re.sub(r"\w+", lambda word: given.get(word[0], word[0]), ctype)

        params = tuple(Param(put(param.ctype), param.name, param.kind) for param in self.params)
        return Entry(f"{self.name}<{', '.join(_split_arguments(arguments))}>", params, self.line)


@dataclass(frozen=True)
class Note:
    """A ``__global__`` function that cannot be launched by name, and why."""

    line: int
    text: str


@dataclass(frozen=True)
class Scan:
    """Everything found in one source: the launchable entries in source order, and notes on the others.

    broken: whether it is empty, and a syntax error hides something that is marked ``__global__``.
    """

    entries: tuple[Entry, ...]
    notes: tuple[Note, ...]
    templates: tuple[Template, ...] = ()
    broken: bool = False


def find_entries(text: str, headers: tuple[str, ...] = ()) -> tuple[Entry, ...]:
    """Kernel entries of ``text`` in source order; empty if it has none (see ``require_entries``, also for headers)."""
    return scan(text, headers).entries


def require_entries(text: str, shown: str, template: str = "", headers: tuple[str, ...] = ()) -> tuple[Entry, ...]:
    """Kernel entries of ``text``, at least one. ``shown`` is the file's name in the error.

    headers: as in ``scan``.
    template: arguments for the kernel template of the text, ``"float, 16"``; where it has several, the whole name,
    ``"k<float, 16>"``. Raises CompileError saying what was looked for if there is none; ArgumentError if ``template``
    fits no kernel template of the text.
    """
    found = scan(text, headers)
    if template:
        return (*found.entries, _instance(found.templates, template, shown))
    if found.entries:
        return found.entries
    hint = f"a kernel entry looks like: {LOOKED_FOR}"
    if not found.notes:
        raise CompileError(f"{shown} has no kernel entry: no function marked __global__", where=shown, hint=hint)
    first = found.notes[0]
    raise CompileError(
        f"{shown} has no kernel entry that can be launched: {first.text}", where=f"{shown}:{first.line}", hint=hint
    )


def entries_to_compile(text: str, shown: str, template: str = "", headers: tuple[str, ...] = ()) -> tuple[Entry, ...]:
    """Return what ``require_entries`` returns; nothing if a syntax error hides all, because a compiler explains it."""
    return () if scan(text, headers).broken else require_entries(text, shown, template, headers)


def _instance(templates: tuple[Template, ...], wanted: str, shown: str) -> Entry:
    name, sign, arguments = wanted.strip().partition("<")
    whole = bool(sign) and wanted.strip().endswith(">") and any(one.name == name.strip() for one in templates)
    fitting = [one for one in templates if not whole or one.name == name.strip()]
    if len(fitting) != 1:
        listed = ", ".join(f"{one.name}<{', '.join(one.heads)}>" for one in templates)
        hint = f"give the whole name, one of {listed}" if templates else "leave template= out"
        what = "there are several kernel templates" if templates else "there is no kernel template"
        raise ArgumentError(f"template '{wanted}': {what} in {shown}", hint=hint)
    given = arguments.rstrip()[:-1] if whole else wanted
    if len(_split_arguments(given)) > len(fitting[0].heads) or re.search(r"[;{}#\"\n\\]", given):
        heads = ", ".join(fitting[0].heads)
        raise ArgumentError(
            f"template '{wanted}' does not fit {fitting[0].name}<{heads}>", hint='for example "float, 16"'
        )
    return fitting[0].instance(given)


def _split_arguments(text: str) -> list[str]:
    """Template arguments at the commas outside brackets: ``float, Pair<int, 2>`` -> two."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "<([{") - (char in ">)]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def macro_lines(defines: Sequence[str]) -> str:
    """Return the compiler's ``-D`` arguments, each ``NAME`` or ``NAME=VALUE``, as a header's text."""
    parts = (define.partition("=") for define in defines)
    return "".join(f"#define {name} {value if sign else 1}\n" for name, sign, value in parts)


def has_marked(text: str) -> bool:
    """Return whether a text has a function marked ``__global__``, outside ``#if 0``; also one for another chip."""
    return scan(with_live_lines(text)) != Scan((), ())


# Half the time of a look-up in the cache, and a notebook launches one text many times.
@functools.lru_cache(maxsize=64)
def scan(text: str, headers: tuple[str, ...] = ()) -> Scan:
    """Entries and notes of ``text``. Never raises: text that is not C++ has no entries, one too long a note.

    headers: the texts of what the source includes (``includes.read_sources``), for their macros and aliases; before
    them the ``macro_lines`` of the build.
    """
    if not any("__global__" in one for one in (text, *headers)):
        return Scan((), ())
    # ``import gn_tutorial`` imports this module and must not import tree-sitter.
    from gn_tutorial.cpp.marked_functions import SYNTAX_ERROR, marked_functions

    entries: dict[str, Entry] = {}
    declared: dict[str, Entry] = {}
    notes: list[Note] = []
    templates: dict[str, Template] = {}
    try:
        found = marked_functions(text, headers)
    except ArgumentError as error:
        return Scan((), (Note(1, error.what),))
    for one in found:
        name, line = one.name, one.line
        params = tuple(Param(*param, ArgKind.TENSOR if address else ArgKind.VALUE) for *param, address in one.params)
        if one.hidden_by:
            notes.append(Note(line, f"{one.hidden_by} hides what is marked __global__"))
        elif one.heads is None:
            (entries if one.has_body else declared).setdefault(name, Entry(name, params, line))
        else:
            hint = f'{name} is a template: name its arguments, template="float, 16" (on a command line, --template)'
            notes.append(Note(line, hint))
            if one.heads:  # an explicit specialisation has none, and belongs to a template that was seen before
                templates.setdefault(name, Template(name, params, line, one.heads))
    # A kernel that is only declared here (its body comes from an included file) can be launched all the same.
    listed = sorted((declared | entries).values(), key=lambda entry: entry.line)
    broken = not (listed or templates) and any(one.hidden_by == SYNTAX_ERROR for one in found)
    return Scan(tuple(listed), tuple(notes), tuple(templates.values()), broken)
