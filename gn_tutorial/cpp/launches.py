"""The source pass for whole samples: a ``main``, and launches written ``kernel<<<blocks, nullptr, stream>>>(...)``.

A C++ compiler cannot read ``<<<``. The pass turns each launch into a call of the host runtime (host/acl_runtime.h),
gives ``main`` another name, and touches nothing else: every line keeps its number, so that errors and diagnostics are
at the sample's own lines. Files that the sample includes and that launch kernels too replace their ``#include``.

Half-typed code stays as it is, except for launches and a ``main`` that are complete: the compiler's errors are then
about what the learner wrote. Functions here raise ArgumentError for text with ``main`` or ``<<<`` beyond the bound of
``syntax``; other text is not parsed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gn_tutorial.cpp.includes import Include, includes, with_includes, with_live_lines
from gn_tutorial.cpp.source_text import source_text
from gn_tutorial.errors import located

if TYPE_CHECKING:
    from gn_tutorial.cpp.syntax import Node, Syntax

#: What the pass calls ``main``; host_main.h calls it.
MAIN = "gnt_sample_main"
#: CANN's macro for a launch on the CPU.
_CPU_LAUNCH = "ICPU_RUN_KF"
_WORD_MAIN = re.compile(r"\bmain\b")
_Edit = tuple[int, int, str]  # from, to, what stands there afterwards


@dataclass(frozen=True)
class Sample:
    """The rewritten text. ``has_main``: it can run as a program. ``folders``: of the files put in place of includes."""

    text: str
    has_main: bool
    folders: tuple[Path, ...]


def is_sample(text: str, near: Path) -> bool:
    """Whether the text needs the pass: it has a ``main`` or launches a kernel, or a file that it includes does."""
    return has_main(text) or _needs_edits(text) or any(_needs_edits(*one) for one in _included(text, near).values())


def has_main(text: str, path: Path | None = None) -> bool:
    """Whether the text defines ``main`` outside every class and ``#if 0``. path: for the error."""
    with located(path or ""):
        return bool(_WORD_MAIN.search(text)) and any(_mains(_tree(text)))


def launches(text: str) -> bool:
    """Whether the text launches a kernel, on a device or on the CPU (ICPU_RUN_KF)."""
    calls = ((call, one) for _, _, one in _parts(text) for call in one.nodes("call_expression", errors=True))
    return any(_launch_of(call) or syntax.text(call.children[0]) == _CPU_LAUNCH for call, syntax in calls)


def rewrite(text: str, path: Path) -> Sample:
    """The text of ``path`` for an ordinary compiler. What it does not understand stays as it is."""
    work = _Work()
    made = work.file(text, path)
    return Sample(made, has_main(text), tuple(dict.fromkeys(work.folders)))


def without_launchers(text: str) -> str:
    """The text with the bodies of functions that launch a kernel left empty, every line in its place.

    A project's build compiles a kernel's file for the device alone, where such a host function (``add_do`` of the
    official samples) is not looked into: public ones name streams and variables that nothing declares.
    """
    if not _needs_edits(text):
        return text
    text = text.replace("\r\n", "\n")
    syntax = _tree(text)
    bodies: list[Node] = []  # of the functions around the place
    emptied: dict[tuple[int, int], str] = {}
    for node in syntax.nodes("function_definition", "call_expression", errors=True):
        while bodies and bodies[-1].end_byte <= node.start_byte:
            bodies.pop()
        body = node.child_by_field_name("body")
        if body and body.type == "compound_statement":
            bodies.append(body)
        elif bodies and _launch_of(node):
            start, end = syntax.span(bodies[-1])
            emptied[start + 1, end - 1] = "\n" * text.count("\n", start, end)
    return _edited(text, [(*span, lines) for span, lines in emptied.items()])


def _tree(text: str) -> Syntax:
    from gn_tutorial.cpp.syntax import parse  # not at the start: the parser makes the import of the package slower

    return parse(with_live_lines(text.replace("\r\n", "\n")))


def _edited(text: str, edits: list[_Edit]) -> str:
    """Return the edited text. Of an edit that contains others these have no effect."""
    parts, at = [], 0
    for start, end, new in sorted(edits):
        if start >= at:
            parts += [text[at:start], new]
            at = end
    return "".join([*parts, text[at:]])


def _needs_edits(text: str, path: Path | None = None) -> bool:
    with located(path or ""):
        return "<<<" in text and bool(_launch_edits(text.replace("\r\n", "\n")))


def _included(text: str, near: Path) -> dict[str, tuple[str, Path]]:
    """Quoted includes that are files beside the source: name -> text and path."""
    found = {}
    for one in includes(text):
        path = near / one.name
        try:
            if one.quoted:
                found[one.name] = (source_text(path), path.resolve())
        except (OSError, ValueError):
            continue
    return found


@dataclass
class _Work:
    """One rewriting; remembers what was put in place already, since ``#pragma once`` has no meaning inside a file."""

    folders: list[Path] = field(default_factory=list)
    placed: set[Path] = field(default_factory=set)

    def file(self, text: str, path: Path) -> str:
        self.placed.add(path)
        included = {name: one for name, one in _included(text, path.parent).items() if self._needs_pass(*one, set())}

        def put(include: Include) -> str | None:
            if not include.quoted or include.name not in included:
                return None
            inner_text, inner = included[include.name]
            if inner in self.placed:
                return ""
            self.folders.append(inner.parent)
            return f'#line 1 "{inner}"\n{self.file(inner_text, inner)}\n#line {include.line} "{path}"\n'

        text = text.replace("\r\n", "\n")
        return with_includes(_edited(text, [*_launch_edits(text), *_main_edits(text)]), put)

    def _needs_pass(self, text: str, path: Path, seen: set[Path]) -> bool:
        if path in seen:
            return False
        seen.add(path)
        inner = _included(text, path.parent).values()
        return _needs_edits(text, path) or any(self._needs_pass(*one, seen) for one in inner)


# --- one text --------------------------------------------------------------------------------------------------------


class _Launch(NamedTuple):
    """The parts of a launch: the kernel's name, ``<<<...>>>``, and the arguments in parentheses."""

    kernel: Node
    configuration: Node
    arguments: Node


def _launch_of(call: Node) -> _Launch | None:
    """Return the launch that a call is; None for another call, and for a launch that is not complete."""
    parts = [one for one in call.children if one.type != "comment"][-3:]
    if len(parts) < 3 or parts[1].type != "kernel_call_syntax" or not parts[2].children:
        return None
    kernel, configuration, arguments = parts
    complete = not any(one.is_missing for one in (kernel, configuration.children[-1], arguments.children[-1]))
    # An error of one node is a kernel's name behind another macro: CHECK(x) k<<<1, 0, s>>>(y).
    return _Launch(*parts) if complete and not (kernel.is_error and kernel.child_count > 1) else None


def _parts(text: str) -> Iterator[tuple[int, str, Syntax]]:
    """Yield the text and the body of each macro that may launch: where it starts, its text, its tree."""
    if "<<<" not in text and _CPU_LAUNCH not in text:
        return
    syntax = _tree(text)
    yield 0, text, syntax
    for macro in syntax.nodes("preproc_def", "preproc_function_def", errors=True):
        body = macro.child_by_field_name("value")  # the parser leaves it as text
        start, end = syntax.span(body) if body else (0, 0)
        if "<<<" in text[start:end] or _CPU_LAUNCH in text[start:end]:
            # Equal lengths for joints of lines and of names keep the places.
            code = re.sub(r"\s*##\s*", lambda found: "_" * len(found[0]), text[start:end].replace("\\\n", " \n"))
            yield start, text[start:end], _tree(code + ";")


def _launch_edits(text: str) -> list[_Edit]:
    """Return the edits that make calls of launches."""
    return [
        (start + first, start + last, new)
        for start, part, syntax in _parts(text)
        for call in syntax.nodes("call_expression", errors=True)
        if (launch := _launch_of(call))
        for first, last, new in _edits_of(launch, part, syntax)
    ]


def _edits_of(launch: _Launch, text: str, syntax: Syntax) -> list[_Edit]:
    (begin, named), (opened, closed), (called, end) = map(syntax.span, launch)
    name = text[begin:named]
    shown = re.sub(r"\s+", " ", name).replace("\\", "").replace('"', "")
    # The callee moves behind the configuration; the line ends between the two stay, so every argument keeps its line.
    moved = "".join(re.findall(r"\\?\n", text[begin:opened]))
    joined = re.sub(r"\\?\n", " ", re.sub(r"//[^\n]*", "", name))
    return [
        (begin, opened + 3, f'::gn_twin::host::Start("{shown}", {moved}'),
        (closed - 3, called + 1, f")([&] {{ {joined}("),
        (end - 1, end, "); })"),
    ]


def _mains(syntax: Syntax) -> Iterator[tuple[Node, Node]]:
    """Yield the functions ``main``, each with its name; also one that ``#if`` or half-typed code cuts in two."""
    for function in syntax.nodes("function_definition", "declaration", "ERROR", errors=True):
        if function.type == "declaration" and not function.children[-1].is_missing:
            continue
        for before, one in itertools.pairwise(function.children):
            name = one.child_by_field_name("declarator") or one
            if before.is_named and name.type == "identifier" and syntax.text(name) == "main":
                yield function, name


def _main_edits(text: str) -> list[_Edit]:
    """Return the edits that rename ``main``, and return 0 at its end as C++ says of ``main`` only."""
    edits = []
    syntax = _tree(text)
    for function, name in _mains(syntax):
        edits.append((*syntax.span(name), MAIN))
        kind, body = function.child_by_field_name("type"), function.child_by_field_name("body")
        whole = body and body.type == "compound_statement" and not body.children[-1].is_missing
        if body and whole and kind and syntax.text(kind) != "void":
            end = syntax.span(body)[1]
            edits.append((end - 1, end, "return 0; }"))
    return edits
