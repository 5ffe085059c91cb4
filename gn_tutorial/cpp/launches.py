"""The source pass for whole samples: a ``main``, and launches written ``kernel<<<blocks, nullptr, stream>>>(...)``.

A C++ compiler cannot read ``<<<``. The pass turns each launch into a call of the host runtime (host/acl_runtime.h),
gives ``main`` another name, and touches nothing else: every line keeps its number, so that errors and diagnostics are
at the sample's own lines. Files that the sample includes and that launch kernels too replace their ``#include``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from gn_tutorial.cpp.includes import source_text
from gn_tutorial.cpp.tokens import placed_tokens, tokens

#: What the pass calls ``main``; host_main.h calls it.
MAIN = "gnt_sample_main"
_WORD_MAIN = re.compile(r"\bmain\b")
_OPEN = {"(": ")", "[": "]", "{": "}", "[[": "]]"}
_CLOSE = {closing: opening for opening, closing in _OPEN.items()}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*$', re.MULTILINE)


@dataclass(frozen=True)
class Sample:
    """The rewritten text. ``has_main``: it can run as a program. ``folders``: of the files put in place of includes."""

    text: str
    has_main: bool
    folders: tuple[Path, ...]


def is_sample(text: str, near: Path) -> bool:
    """Whether the text needs the pass: it has a ``main`` or launches a kernel, or a file that it includes does."""
    return has_main(text) or _launches(text) or any(_launches(one) for _, one in _included(text, near).values())


def has_main(text: str) -> bool:
    """Whether the text defines ``main`` outside every class, function and ``#if 0`` (a namespace counts as outside)."""
    if not _WORD_MAIN.search(text):  # most kernels: reading one takes 10 ms, each time its library is asked for
        return False
    listed = list(tokens(text))
    return any(
        one.text == "main" and after.text == "(" and before.text in ("int", "int32_t", "auto", "void")
        for before, one, after in zip(listed, listed[1:], listed[2:], strict=False)
    )


def rewrite(text: str, path: Path) -> Sample:
    """The text of ``path`` for an ordinary compiler. Never raises: what it does not understand stays as it is."""
    work = _Work()
    made = work.file(text, path)
    return Sample(made, has_main(text), tuple(dict.fromkeys(work.folders)))


def without_launchers(text: str) -> str:
    """The text with the bodies of functions that launch a kernel left empty, every line in its place.

    A project's build compiles a kernel's file for the device alone, where such a host function (``add_do`` of the
    official samples) is not looked into: public ones name streams and variables that nothing declares.
    """
    if not _launches(text):
        return text
    text = text.replace("\r\n", "\n")
    pieces = [_Piece(*one) for one in placed_tokens(text)]
    edits = []
    at = 0
    while at < len(pieces):
        if pieces[at].text == "{" and _begins_function(pieces, at):
            end = _after(pieces, at) - 1
            if any(_is_run(pieces, one, "<") for one in range(at, end)):
                edits.append((pieces[at].end, pieces[end].start))
            at = end
        at += 1
    for start, end in reversed(edits):
        text = text[:start] + "\n" * text.count("\n", start, end) + text[end:]
    return text


def _begins_function(pieces: list[_Piece], at: int) -> bool:
    """Whether the brace follows parameters or what stands behind them; others open a namespace, a class, a list."""
    while at > 0 and pieces[at - 1].text in ("const", "noexcept", "override", "final"):
        at -= 1
    return at > 0 and pieces[at - 1].text == ")"


def _launches(text: str) -> bool:
    return "<<<" in text and any(
        (first.text, second.text, third.text) == ("<", "<", "<") for first, second, third in _threes(list(tokens(text)))
    )


def _threes(listed: list) -> zip:
    return zip(listed, listed[1:], listed[2:], strict=False)


def _included(text: str, near: Path) -> dict[str, tuple[Path, str]]:
    """Quoted includes that are files beside the source: name -> path and text."""
    found = {}
    for match in _INCLUDE.finditer(text):
        path = near / match[1]
        try:
            found[match[1]] = (path.resolve(), source_text(path))
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
        made = _rewritten(text)
        if not included:
            return made

        def put(match: re.Match[str]) -> str:
            if match[1] not in included:
                return match.group()
            inner, inner_text = included[match[1]]
            line = made.count("\n", 0, match.end()) + 2
            if inner in self.placed:
                return ""
            self.folders.append(inner.parent)
            return f'#line 1 "{inner}"\n{self.file(inner_text, inner)}\n#line {line - 1} "{path}"\n'

        return _INCLUDE.sub(put, made)

    def _needs_pass(self, path: Path, text: str, seen: set[Path]) -> bool:
        if path in seen:
            return False
        seen.add(path)
        return _launches(text) or any(
            self._needs_pass(inner, inner_text, seen) for inner, inner_text in _included(text, path.parent).values()
        )


# --- one text --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Piece:
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def _rewritten(text: str) -> str:
    text = text.replace("\r\n", "\n")
    pieces = [_Piece(*one) for one in placed_tokens(text)]
    edits: list[tuple[int, int, str]] = []  # from, to, what stands there afterwards
    for at in range(len(pieces) - 2):
        if _is_run(pieces, at, "<") and (at == 0 or not _touches(pieces, at - 1, "<")):
            edits += _launch(text, pieces, at)
    edits += _main(pieces)
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _is_run(pieces: list[_Piece], at: int, sign: str) -> bool:
    return (
        pieces[at].text == sign
        and at + 2 < len(pieces)
        and _touches(pieces, at, sign)
        and _touches(pieces, at + 1, sign)
    )


def _touches(pieces: list[_Piece], at: int, sign: str) -> bool:
    """Whether this token and the next are ``sign``, with nothing between them."""
    return pieces[at].text == sign and pieces[at + 1].text == sign and pieces[at].end == pieces[at + 1].start


def _launch(text: str, pieces: list[_Piece], at: int) -> list[tuple[int, int, str]]:
    """Edits for the launch whose ``<<<`` starts at ``at``; none if it is not complete."""
    begin = _callee(pieces, at - 1)
    close = at + 3
    while close < len(pieces) and not _is_run(pieces, close, ">"):
        close = _after(pieces, close)
    opening = close + 3
    if begin is None or opening >= len(pieces) or pieces[opening].text != "(":
        return []
    end = _after(pieces, opening) - 1
    if end >= len(pieces) or pieces[end].text != ")":
        return []
    name = text[pieces[begin].start : pieces[at - 1].end]
    shown = re.sub(r"\s+", " ", name).replace("\\", "").replace('"', "")
    # The callee moves behind the configuration; the line ends between the two stay, so every argument keeps its line.
    between = text[pieces[at - 1].end : pieces[at].start]
    return [
        (pieces[begin].start, pieces[at].start + 3, f'::gn_twin::host::Start("{shown}",{_lines(name + between)}'),
        (pieces[close].start, pieces[opening].end, f")([&] {{ {_joined(name)}("),
        (pieces[end].start, pieces[end].end, "); })"),
    ]


def _lines(text: str) -> str:
    return " " + "".join("\\\n" if one.startswith("\\") else "\n" for one in re.findall(r"\\?\n", text))


def _joined(name: str) -> str:
    return re.sub(r"\\?\n", " ", re.sub(r"//[^\n]*", "", name))


def _callee(pieces: list[_Piece], at: int) -> int | None:
    """Index of the first token of the kernel's name that ends at ``at``: ``ns::k``, ``k<float, 16>``."""
    if at >= 0 and pieces[at].text == ">":
        depth = 0
        while at >= 0:
            sign = pieces[at].text
            if sign in _CLOSE and (at := _before(pieces, at)) < 0:
                return None
            depth += {">": 1, "<": -1}.get(sign, 0)
            at -= 1
            if depth == 0:
                break
    if at < 0 or pieces[at].kind != "name":
        return None
    while at >= 1 and pieces[at - 1].text == "::":
        at -= 2 if at >= 2 and pieces[at - 2].kind == "name" and pieces[at - 2].text != "return" else 1
    return at


def _after(pieces: list[_Piece], at: int) -> int:
    """Index behind the token at ``at``, or behind the bracket that closes it."""
    depth = 0
    while at < len(pieces):
        depth += (pieces[at].text in _OPEN) - (pieces[at].text in _CLOSE)
        at += 1
        if depth <= 0:
            return at
    return at


def _before(pieces: list[_Piece], at: int) -> int:
    """Index of the bracket that opens the one that closes at ``at``; -1 if there is none."""
    depth = 0
    while at >= 0:
        depth += (pieces[at].text in _CLOSE) - (pieces[at].text in _OPEN)
        if depth == 0:
            return at
        at -= 1
    return -1


def _main(pieces: list[_Piece]) -> list[tuple[int, int, str]]:
    """Edits that rename ``main``, and return 0 at its end as C++ says of ``main`` only."""
    edits = []
    for at in range(1, len(pieces) - 1):
        if pieces[at].text != "main" or pieces[at + 1].text != "(" or pieces[at].kind != "name":
            continue
        if pieces[at - 1].text not in ("int", "int32_t", "auto", "void"):
            continue
        edits.append((pieces[at].start, pieces[at].end, MAIN))
        body = _after(pieces, at + 1)
        if body < len(pieces) and pieces[body].text == "{" and pieces[at - 1].text != "void":
            end = _after(pieces, body) - 1
            if pieces[end].text == "}":
                edits.append((pieces[end].start, pieces[end].end, "return 0; }"))
    return edits
