"""Finds the kernel entries in Ascend C source text: their names, parameters and lines.

An entry is a function marked ``__global__``, in either of the two spellings CANN accepts:

    extern "C" __global__ __aicore__ void f(GM_ADDR x, ...)
    __global__ __vector__ void f(__gm__ uint8_t* x, uint32_t n)

The text is split into tokens by C++'s own rules for comments, literals and continued lines, so that an entry inside a
comment, a string, a macro definition or an ``#if 0`` block is not taken for a real one. Of macros only those that write
``__global__`` are expanded (``entry_macros``); the compiler remains the judge of every type.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from gn_tutorial.abi.structs import ArgKind
from gn_tutorial.cpp.entry_macros import entry_macros, expand
from gn_tutorial.cpp.tokens import Token, tokens
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
    """Everything found in one source: the launchable entries in source order, and notes on the others."""

    entries: tuple[Entry, ...]
    notes: tuple[Note, ...]
    templates: tuple[Template, ...] = ()


def find_entries(text: str, headers: tuple[str, ...] = ()) -> tuple[Entry, ...]:
    """Kernel entries of ``text`` in source order; empty if it has none (see ``require_entries``, also for headers)."""
    return scan(text, headers).entries


def require_entries(text: str, shown: str, template: str = "", headers: tuple[str, ...] = ()) -> tuple[Entry, ...]:
    """Kernel entries of ``text``, at least one. ``shown`` is the file's name in the error.

    headers: texts of what the source includes (``sources.read_sources``), for the macros that they define.
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


# Half the time of a look-up in the cache, and a notebook launches one text many times.
@functools.lru_cache(maxsize=64)
def scan(text: str, headers: tuple[str, ...] = ()) -> Scan:
    """Entries and notes of ``text``. Never raises: text that is not C++ has no entries."""
    return _Scanner(expand(list(tokens(text)), entry_macros((*headers, text)))).run()


# --- declarations ----------------------------------------------------------------------------------------------------

_QUALIFIERS = frozenset(
    """const volatile __restrict__ __restrict restrict __gm__ __ubuf__ __grid_constant__
    struct class enum union typename register constexpr""".split()
)
_TYPE_WORDS = frozenset(
    """void bool char short int long signed unsigned float double half auto bfloat16_t GM_ADDR
    __bf16 __fp16 wchar_t""".split()
)
_OPEN = {"(": ")", "[": "]", "{": "}", "[[": "]]"}


class _Scanner:
    """Walks the tokens once, keeping the namespaces that enclose the place and whether a template head is pending."""

    def __init__(self, listed: list[Token]) -> None:
        self.tokens = listed
        self.entries: dict[str, Entry] = {}
        self.declared: dict[str, Entry] = {}
        self.notes: list[Note] = []
        self.templates: dict[str, Template] = {}
        self.heads: tuple[str, ...] = ()

    def run(self) -> Scan:
        scopes: list[str] = []
        pending_scope, template = "", False
        at = 0
        while at < len(self.tokens):
            token = self.tokens[at]
            at += 1
            if token.text == "template":
                template = True
                if self._text(at) == "<":
                    end = self._skip_angles(at)
                    self.heads = self._heads(at + 1, end - 1)
                    at = end
            elif token.text == "namespace":
                pending_scope, at = self._namespace(at)
            elif token.text == "__global__" and token.kind == "name":
                at = self._function(at, template, scopes)
            elif token.text == "{":
                scopes.append(pending_scope)
                pending_scope, template = "", False
            elif token.text == "}":
                template = False
                if scopes:
                    scopes.pop()
            elif token.text == ";":
                pending_scope, template = "", False
        # A kernel that is only declared here (its body comes from an included file) can be launched all the same.
        for name, entry in self.declared.items():
            self.entries.setdefault(name, entry)
        ordered = sorted(self.entries.values(), key=lambda entry: entry.line)
        return Scan(tuple(ordered), tuple(self.notes), tuple(self.templates.values()))

    def _text(self, at: int) -> str:
        return self.tokens[at].text if at < len(self.tokens) else ""

    def _namespace(self, at: int) -> tuple[str, int]:
        name = ""
        while self._text(at) not in ("{", ";", "=", ""):
            name += self._text(at)
            at += 1
        return (name if self._text(at) == "{" else ""), at

    def _skip_angles(self, at: int) -> int:
        """Index after the ``>`` that closes the ``<`` at ``at``; parentheses protect their contents."""
        depth = 0
        while at < len(self.tokens):
            text = self._text(at)
            if text in _OPEN:
                at = self._close(at)
            else:
                depth += {"<": 1, ">": -1}.get(text, 0)
                if depth == 0:
                    return at + 1
            at += 1
        return at

    def _close(self, at: int) -> int:
        """Index of the bracket that closes the one at ``at``, or the end of the text."""
        stack = []
        while at < len(self.tokens):
            text = self._text(at)
            if text in _OPEN:
                stack.append(_OPEN[text])
            elif stack and text == stack[-1]:
                stack.pop()
                if not stack:
                    return at
            at += 1
        return len(self.tokens)

    def _function(self, at: int, template: bool, scopes: list[str]) -> int:
        """Reads one declaration from behind its ``__global__``; returns where the walk goes on."""
        previous: Token | None = None
        while at < len(self.tokens) and self._text(at) not in (";", "{", "}"):
            token = self.tokens[at]
            if token.text == "(":
                close = self._close(at)
                # __mix__(1, 2), __launch_bounds__(n), __attribute__((...)): a marker's arguments, not the parameters.
                if previous is not None and previous.kind == "name" and not re.fullmatch(r"__\w+__", previous.text):
                    self._record(previous, at, close, template, scopes)
                    return close + 1
                at = close
            elif token.text == "[[":
                at = self._close(at)
            elif token.text == "<":  # an explicit specialisation, k<float>(...)
                template = True
                at = self._skip_angles(at) - 1
            else:
                previous = token
            at += 1
        return at

    def _record(self, name: Token, opening: int, closing: int, template: bool, scopes: list[str]) -> None:
        full = "::".join([*(scope for scope in scopes if scope), name.text])
        params = self._params(opening + 1, closing)
        if template:
            hint = f'{full} is a template: name its arguments, template="float, 16" (on a command line, --template)'
            self.notes.append(Note(name.line, hint))
            if self.heads:  # an explicit specialisation has none, and belongs to a template that was seen before
                self.templates.setdefault(full, Template(full, params, name.line, self.heads))
        else:
            body = self._text(closing + 1) == "{"
            (self.entries if body else self.declared).setdefault(full, Entry(full, params, name.line))

    def _heads(self, at: int, end: int) -> tuple[str, ...]:
        """Names of the template parameters between two angles."""
        names, last, depth, default = [], "", 0, False
        while at < end:
            text = self._text(at)
            if text in _OPEN:
                at = self._close(at)
            elif text in ("<", ">"):
                depth += 1 if text == "<" else -1
            elif text == "," and depth == 0:
                names.append(last)
                last, default = "", False
            elif text == "=" and depth == 0:
                default = True
            elif self.tokens[at].kind == "name" and depth == 0 and not default:
                last = text
            at += 1
        return tuple(name for name in [*names, last] if name)

    def _params(self, at: int, end: int) -> tuple[Param, ...]:
        groups: list[list[Token]] = [[]]
        angles = 0
        while at < end:
            text = self._text(at)
            if text in _OPEN:
                close = min(self._close(at), end - 1)
                if text != "[[":
                    groups[-1].extend(self.tokens[at : close + 1])
                at = close
            elif text == "," and angles == 0:
                groups.append([])
            else:
                angles = max(0, angles + {"<": 1, ">": -1}.get(text, 0))
                groups[-1].append(self.tokens[at])
            at += 1
        groups = [group for group in groups if group]
        if len(groups) == 1 and [token.text for token in groups[0]] == ["void"]:
            return ()
        return tuple(_param(group, index) for index, group in enumerate(groups))


def _param(group: list[Token], index: int) -> Param:
    """One parameter from its group, with a default value cut off and its name told from its type."""
    texts = [token.text for token in group]
    if "=" in texts:
        group = group[: texts.index("=")]
    array = False
    while group and group[-1].text == "]":
        array = True
        group = group[: max(at for at, token in enumerate(group) if token.text == "[")]
    name = f"arg{index}"
    words = [token for token in group if token.kind == "name" and token.text not in _QUALIFIERS]
    if group and words and group[-1] is words[-1] and len(words) > 1:
        after_colons = len(group) > 1 and group[-2].text == "::"
        if not after_colons and words[-1].text not in _TYPE_WORDS:
            name, group = group[-1].text, group[:-1]
    ctype = _spelling(group) + ("*" if array else "")
    bare = re.sub(r"<.*>", "", ctype)  # a pointer among template arguments is not a pointer parameter
    pointer = "*" in bare or "GM_ADDR" in re.findall(r"\w+", bare)
    return Param(ctype, name, ArgKind.TENSOR if pointer else ArgKind.VALUE)


def _spelling(group: list[Token]) -> str:
    """The type as one would write it: ``const __gm__ uint8_t*``."""
    out = ""
    for token in group:
        wide = token.kind in ("name", "number") and bool(out) and (out[-1].isalnum() or out[-1] in "_*&>")
        out += (" " if wide else "") + token.text + (" " if token.text == "," else "")
    return out.strip()
