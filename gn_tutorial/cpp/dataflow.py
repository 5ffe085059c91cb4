"""How values flow through the text of a kernel: from a statement back to loops, assignments, parameters and calls.

By tokens, without a compiler: what a macro or a template does is not seen. Constants are not followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gn_tutorial.cpp.tokens import Token

#: Steps from a variable to what its value is made of.
_DEPTH = 3
_MAKES_TENSORS = {"AllocTensor", "DeQue", "Get", "GetWithOffset", "ReinterpretCast"}
_NO_VARIABLES = {
    "sizeof",
    "static_cast",
    "reinterpret_cast",
    "const",
    "if",
    "else",
    "for",
    "return",
    "this",
    "true",
    "false",
}


#: What a line does, in English.
LABELS = _BEGINS, _SET, _COUNTS, _CALLED = ("begins here", "set here", "counts here", "called here")


class Deciding(NamedTuple):
    """A line, the name that is marked in it, which of ``LABELS`` it does, and over how many other variables."""

    line: int
    marked: str
    label: str
    steps: float = 0


class SourceFlow:
    """The tokens of one file, and where the variables of a statement get their values. Places are numbers of tokens."""

    def __init__(self, found: Sequence[Token]) -> None:
        self._all = found
        self._words = [token.text for token in found]
        self._pairs = _matching(self._words)
        behind = zip(self._words, self._words[1:], self._words[2:], strict=False)
        self._globals = {name for name, dot, call in behind if dot == "." and call == "SetGlobalBuffer"}

    def _places(self, begin: int, end: int) -> list[int]:
        """The tensors of global memory among these tokens."""
        return [i for i in range(begin, end) if self._words[i] in self._globals]

    def _local_indices(self, begin: int, end: int) -> list[tuple[int, int]]:
        """The tokens between the brackets behind other tensors."""
        opened = [i for i in range(begin, end) if self._words[i] == "[" and self._words[i - 1] not in self._globals]
        return [(open_ + 1, self._pairs.get(open_, open_)) for open_ in opened]

    def lengths(self, begin: int, end: int) -> Iterator[Deciding]:
        """What decides the numbers outside of tensors and their indices: a count, a number of repeats."""
        places = self._places(begin, end)
        inside = self._local_indices(begin, end)
        inside += [(at, self._pairs.get(at + 1, at) if self._words[at + 1] == "[" else at + 1) for at in places]
        hidden = {i for first, last in inside for i in range(first, last)}
        names = [name for i in range(begin, end) if i not in hidden for name in self._names(i, i + 1)]
        return self._values(names, begin)

    def operator_line(self, line: int, sign: str) -> int:
        """The first assignment behind this line with the sign between two names or views of them; 0 if none has it."""
        begin = next((i for i, one in enumerate(self._all) if one.line > line), len(self._all))
        for i in range(begin, len(self._all) - 1):
            if self._words[i] != sign or self._words[i + 1] == "=" or self._all[i + 1].kind != "name":
                continue
            start = max((j for j in range(i) if self._words[j] in (";", "{", "}", "(")), default=0)
            if "=" in self._words[start:i] and (self._all[i - 1].kind == "name" or self._words[i - 1] == "]"):
                return self._all[i].line
        return 0

    def statement(self, line: int) -> tuple[int, int]:
        """The tokens from the line's first operation to the end of its statement."""
        begin = next((i for i, one in enumerate(self._all) if one.line >= line), len(self._all))
        if begin == len(self._all) or self._all[begin].line != line:
            return 0, 0
        end = next((i for i in range(begin, len(self._all)) if self._words[i] in (";", "{")), len(self._all))
        if self._words[begin] in ("for", "while", "if"):  # for (...) DataCopy(...);
            close = self._pairs.get(begin + 1, begin)
            end = next((i for i in range(close, len(self._all)) if self._words[i] in (";", "{")), len(self._all))
        return begin, end

    def global_places(self, begin: int, end: int, *, always: bool) -> Iterator[Deciding]:
        """What decides the places in global memory: the indices, and the memory that a GlobalTensor is given."""
        places = self._places(begin, end)
        for at in places:
            if at + 1 < len(self._words) and self._words[at + 1] == "[":
                yield from self._values(self._names(at + 2, self._pairs.get(at + 1, at + 2)), at)
        for name in dict.fromkeys(self._words[at] for at in places):
            yield from self._given(name, always)

    def local_places(self, begin: int, end: int) -> Iterator[Deciding]:
        """What decides the indices of the other tensors."""
        for first, last in self._local_indices(begin, end):
            yield from self._values(self._names(first, last), begin)

    def _given(self, name: str, always: bool) -> Iterator[Deciding]:
        """Where a GlobalTensor is given its memory, and the variables in that; always, or where an offset is added."""
        for i in range(len(self._words) - 3):
            if self._words[i] == name and self._words[i + 1 : i + 3] == [".", "SetGlobalBuffer"]:
                if not always and "+" not in self._words[i : self._pairs.get(i + 3, i)]:
                    continue
                yield Deciding(self._all[i].line, "SetGlobalBuffer", _BEGINS, 0.5)
                yield from self._values(self._names(i + 4, self._pairs.get(i + 3, i + 4)), i, 1)

    def layouts(self, begin: int, end: int, said: str) -> Iterator[Deciding]:
        """Where the struct of a copy, its last arguments, is made or filled."""
        for name in self._names(begin, end):
            made = [i for i in self._uses(name) if i < begin and self._is_params(i)]
            for i in made[-1:]:
                if self._words[i + 1] in ("{", "=", "(") and self._words[i + 2] not in ("}", ")"):
                    yield Deciding(self._all[i].line, name, _SET)
                    yield from self._values(self._names(i + 2, self._end(i)), i, 1)
                fields = [j for j in self._uses(name) if i < j < begin and self._words[j + 1 : j + 4 : 2] == [".", "="]]
                named = [j for j in fields if self._words[j + 2] in said]
                for j in named or fields:
                    yield Deciding(self._all[j].line, self._words[j + 2], _SET, 0 if named else 2)

    def _is_params(self, i: int) -> bool:
        """Whether the name before which such a type stands is declared here: ``DataCopyPadExtParams<float> pad``."""
        back = i - 4 if self._words[i - 1] == ">" else i - 1
        return back >= 0 and self._words[back].endswith("Params")

    def tensors(self, begin: int, end: int) -> Iterator[Deciding]:
        """Where the tensors of a statement were taken from a queue or a buffer."""
        for name in self._names(begin, end):
            places = [i for i in self._uses(name) if i < begin and self._assigns(i) and self._tensor(i)]
            for i in places[-1:]:
                yield Deciding(self._all[i].line, name, _SET)

    def _values(
        self, names: Sequence[str], at: int, steps: float = 0, passed: set[tuple[int, str]] | None = None
    ) -> Iterator[Deciding]:
        """Where variables get their values before the token ``at``, and what those are made of.

        passed: parameters that have been followed to the calls of their function, each once: functions may call each
        other.
        """
        if steps >= _DEPTH:
            return
        passed = set() if passed is None else passed
        for name in dict.fromkeys(names):
            if any(self._is_params(i) for i in self._uses(name)):
                continue  # ``layouts`` shows it
            if place := self._assigned(name, at):
                loop = self._loop(place)
                value = self._names(*(loop or (place + 1, self._end(place))))
                yield Deciding(self._all[place].line, name, _COUNTS if loop else _SET, steps)
                yield from self._values([one for one in value if one != name], place, steps + 1, passed)
            else:
                yield from self._passed(name, at, steps, passed)

    def _passed(self, name: str, at: int, steps: float, passed: set[tuple[int, str]]) -> Iterator[Deciding]:
        """Where the function around ``at`` is called, if the name is one of its parameters."""
        function = self._function(at)
        if function is None or (function, name) in passed:
            return
        passed.add((function, name))
        parameters = self._arguments(function + 1)
        number = next((n for n, (b, e) in enumerate(parameters) if e > b and name in self._words[b:e]), None)
        if number is None:
            return
        for i in self._uses(self._words[function]):
            if i == function or self._words[i + 1] != "(" or self._words[i - 1] in ("::", "~"):
                continue
            arguments = self._arguments(i + 1)
            if number < len(arguments) and self._words[self._pairs[i + 1] + 1] in (";", ")", ","):
                begin, end = arguments[number]
                alone = end - begin == 1
                if not alone:  # a number is made here, not only passed on
                    yield Deciding(self._all[i].line, self._words[i], _CALLED, steps)
                yield from self._values(self._names(begin, end), i, steps + (0 if alone else 1), passed)

    def _assigned(self, name: str, at: int) -> int | None:
        """The token of the last assignment of a variable before ``at`` in its function, or of a member's anywhere."""
        function = self._function(at)
        places = [i for i in self._uses(name) if self._assigns(i)]
        inside = [i for i in places if i < at and (function is None or i > function)]
        if inside:
            return None if self._constant(inside[-1]) or self._tensor(inside[-1]) else inside[-1]
        parameter = function is not None and name in self._words[function : self._pairs.get(function + 1, function)]
        outside = [] if parameter else [i for i in places if not self._constant(i) and not self._tensor(i)]
        return outside[0] if outside else None

    def _assigns(self, i: int) -> bool:
        """``n = 3`` or ``n{3}``, or a member that a constructor sets, ``: n(3)``."""
        after = self._words[i + 1] if i + 1 < len(self._words) else ""
        before = self._words[i - 1] if i else ""
        if after == "=":
            return self._words[i + 2] != "="
        declared = i and self._all[i - 1].kind == "name" and before not in ("return", "else", "new", "struct", "class")
        return (after == "{" and bool(declared)) or (
            after == "(" and before in (":", ",") and self._words[i - 2] == ")"
        )

    def _tensor(self, i: int) -> bool:
        """Whether what is assigned is a tensor: of a queue or a buffer, or a view of one."""
        return bool(_MAKES_TENSORS.intersection(self._words[i : self._end(i)]))

    def _constant(self, i: int) -> bool:
        start = max((j for j in range(i, -1, -1) if self._words[j] in (";", "{", "}")), default=-1)
        return "constexpr" in self._words[start + 1 : i]

    def _loop(self, i: int) -> tuple[int, int] | None:
        """The condition of the for whose first part has this token; None if it is in none."""
        for j in range(i, max(i - 8, 0), -1):
            if self._words[j] in (";", "{", "}"):
                return None
            if self._words[j] == "for" and j + 1 in self._pairs:
                close = self._pairs[j + 1]
                parts = [k for k in range(j + 2, close) if self._words[k] == ";"]
                return (parts[0] + 1, close) if parts else None
        return None

    def _function(self, at: int) -> int | None:
        """The name of the function, lambdas apart, whose body or parameters have this token."""
        for open_ in sorted((o for o, c in self._pairs.items() if self._words[o] == "{" and o < at < c), reverse=True):
            close = open_ - 1
            while close > 0 and self._words[close] in ("const", "override", "noexcept", "final"):
                close -= 1
            begin = next((o for o, c in self._pairs.items() if c == close and self._words[o] == "("), None)
            if (
                begin
                and self._all[begin - 1].kind == "name"
                and self._words[begin - 1] not in ("for", "while", "if", "switch")
            ):
                return begin - 1
        return None

    def _arguments(self, open_: int) -> list[tuple[int, int]]:
        """Where each argument between these parentheses begins and ends."""
        close = self._pairs.get(open_)
        if close is None:
            return []
        found, begin, at = [], open_ + 1, open_ + 1
        while at < close:
            if self._words[at] == ",":
                found.append((begin, at))
                begin = at + 1
            at = self._pairs.get(at, at) + 1
        return [*found, (begin, close)]

    def _end(self, at: int) -> int:
        return next((i for i in range(at, len(self._words)) if self._words[i] == ";"), len(self._words))

    def _names(self, begin: int, end: int) -> list[str]:
        """What may be variables among the tokens."""
        found = []
        for i in range(begin, min(end, len(self._all) - 1)):
            named = self._all[i].kind == "name" and self._words[i] not in _NO_VARIABLES
            typed = self._words[i - 1] == "<" and self._words[i - 2].endswith("_cast")
            follows = "->" if self._words[i + 1 : i + 3] == ["-", ">"] else self._words[i + 1]
            if named and not typed and follows not in ("(", "::", ".", "->") and self._words[i - 1] != "::":
                found.append(self._words[i])
        return list(dict.fromkeys(found))

    def _uses(self, name: str) -> list[int]:
        return [i for i, word in enumerate(self._words[:-1]) if word == name and self._all[i].kind == "name"]


def _matching(words: Sequence[str]) -> dict[int, int]:
    """Where each bracket is closed."""
    opened: list[int] = []
    pairs: dict[int, int] = {}
    closing = {")": "(", "]": "[", "}": "{"}
    for i, word in enumerate(words):
        if word in ("(", "[", "{"):
            opened.append(i)
        elif word in closing and opened and words[opened[-1]] == closing[word]:
            pairs[opened.pop()] = i
    return pairs
