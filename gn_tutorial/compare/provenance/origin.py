"""The steps behind one element of an output, as a table: line, instruction, result, and what it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import ml_dtypes
import numpy as np

from gn_tutorial.abi.trace import Watch
from gn_tutorial.compare.provenance.steps import OriginStep, Source
from gn_tutorial.compare.provenance.suspects import Elsewhere, Padded
from gn_tutorial.compare.provenance.two_tensors import Overwritten
from gn_tutorial.diagnostics.excerpt import source_line
from gn_tutorial.tables import html_table, text_table

HEADERS = ("line", "instruction", "result", "made of")
_TYPES = {(4, True): np.float32, (2, True): np.float16, (1, False): np.int8, (2, False): np.int16, (4, False): np.int32}
_SIGNS = {"Add": " + ", "Sub": " - ", "Mul": " * ", "Div": " / ", "Adds": " + ", "Muls": " * ", "Gather": ": "}
#: How the result is computed: {0} is what it held before, {1} and {2} are the two operands.
_FORMULAS = {"MulAddDst": "{0} + {1} * {2}", "FusedMulAdd": "{0} * {1} + {2}"}
#: The operand that tells Gather and Gatherb where to read. The table says that it counts bytes, because learners take
#: it for a number of elements.
_OFFSETS = ("srcOffset", "offset")
_MARKED = "*: only wrong elements of the output come by here"


@dataclass(frozen=True, repr=False)
class Origin:
    """The steps that one element of an output comes from.

    name, value: of the element; the name is like y[0, 3]. step: the last step that wrote it; None if no step did.
    values: the bytes that sources held, by Watch. wide: whether 16-bit floats are bfloat16. right: the reference's
    value, if it is known. marked: places (file, line) that all compared wrong elements came through, and no right one.
    said: a sentence about the mistake that the steps show. differs: the first step in which a right element differs, in
    words. besides: what else is striking, in words, which may be intended. suspect: the copy that reads a wrong place,
    or too little, or the instruction that overwrites what another one takes.
    """

    name: str
    value: float
    step: OriginStep | None
    values: Mapping[Watch, bytes] = field(default_factory=dict)
    wide: bool = False
    right: float | None = None
    marked: frozenset[tuple[str, int]] = frozenset()
    said: str = ""
    differs: str = ""
    besides: str = ""
    suspect: Elsewhere | Padded | Overwritten | None = None

    @property
    def explains(self) -> bool:
        """Whether a sentence about these steps tells why the element is wrong."""
        return bool(self.differs or self.said or (self.suspect and self.suspect.explains))

    @property
    def lines(self) -> tuple[tuple[str, int], ...]:
        """The file and line of each step, each once, the last step first."""
        return tuple(dict.fromkeys(step.place for _, step, _ in self.walk()))

    def title(self) -> str:
        """Return a line with the element's value, its right value if known, and how to read the table."""
        is_ = f"{self.name} is {self.value:.6g}"
        should = f", {self.right:.6g} is right" if self.right is not None else ""
        if self.step is None:
            return f"{is_}{should}: no copy and no SetValue has written it"
        return f"{is_}{should}; where it comes from, the last step first:"

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return the rows of the table under ``HEADERS``, as text."""
        return [
            (
                self._line(step),
                "  " * depth
                + step.op
                + (" (atomic)" if step.atomic else "")
                + (" *" if step.place in self.marked else "")
                + _rounds(step),
                _text(self.result(source)),
                self._made_of(step, self.result(source)),
            )
            for depth, step, source in self.walk()
        ]

    def notes(self) -> list[str]:
        """Return what the marks mean, if a step has one, and the sentences about the mistake."""
        marks = [_MARKED] if any(step.place in self.marked for _, step, _ in self.walk()) else []
        return [*marks, *(one for one in (self.differs, self.said, self.besides) if one), *self._suspect()]

    def _suspect(self) -> list[str]:
        """Return the sentence about the suspect, and the lines that decide where it reads or writes, or how much."""
        if self.suspect is None:
            return []
        shown = [f"  {line:>4} | {source_line(file, line).strip()}" for file, line in self.suspect.decided_in()]
        return [str(self.suspect), *shown]

    def walk(self) -> Iterator[tuple[int, OriginStep, Source | None]]:
        """Yield each step once, before those behind it: its depth, the step, and the source that it wrote, if any."""
        seen: set[int] = set()
        waiting: list[tuple[int, OriginStep, Source | None]] = [(0, self.step, None)] if self.step else []
        while waiting:
            depth, step, source = waiting.pop()
            if id(step) in seen:
                continue
            seen.add(id(step))
            yield depth, step, source
            waiting += [(depth + 1, one.step, one) for one in reversed(step.sources) if one.step]

    def _line(self, step: OriginStep) -> str:
        main = self.step.file if self.step else step.file
        return str(step.line) if step.file == main else f"{Path(step.file).name}:{step.line}"

    def _made_of(self, step: OriginStep, result: float | None) -> str:
        if step.padding:
            return f"padding behind a row of {step.padding} bytes"
        operands = [self._operand(source) for source in step.sources if not source.is_number]
        if step.op in _FORMULAS and len(operands) == 3:
            return _FORMULAS[step.op].format(*operands)
        if step.takes_number:
            operands.append(self._taken(step, result))
        return _SIGNS.get(step.op, ", ").join(operands)

    def _operand(self, source: Source) -> str:
        value = _text(self.number(source))
        value = f"{source.argument}[{source.element}] = {value}" if source.argument else value
        value = f"offset of {value} bytes" if source.role in _OFFSETS else value
        value = f"bit {source.bit} of {value}" if source.bit >= 0 else value
        if source.many == 1:
            return value
        nth = source.elements.index(source.chosen)
        return f"{source.many} elements, {'the first' if nth == 0 else f'number {nth}'}: {value}"

    def taken(self, step: OriginStep, result: float | None) -> float | None:
        """Return the number that a step took from its call, from its source and its result; None if it is unknown."""
        source = next((self.number(one) for one in step.sources if not one.is_number), None)
        taken = None
        if result is not None and step.op == "Duplicate":
            taken = result
        elif result is not None and source is not None and step.op == "Adds":
            taken = result - source
        elif result is not None and source and step.op == "Muls":
            taken = result / source
        return None if taken is None or not np.isfinite(taken) else taken

    def _taken(self, step: OriginStep, result: float | None) -> str:
        if step.op == "SetValue":
            return "the scalar unit's number"
        taken = self.taken(step, result)
        if taken is None:
            return "a number"
        return f"({_text(taken)})" if taken < 0 and step.op in _SIGNS else _text(taken)

    def number(self, source: Source) -> float | None:
        """Return the value that a source held; None if it was not looked up."""
        return number(self.values.get(source.watch, b""), source.element_bytes, source.floats, self.wide)

    def result(self, source: Source | None) -> float | None:
        """Return the result of the step behind a source; without a source, the element's value."""
        if source is None:
            return self.value
        made = self.values.get(source.made, b"") if source.made else b""
        return number(made, source.element_bytes, source.floats, self.wide)

    def __repr__(self) -> str:
        table = [text_table(HEADERS, self.rows(), indent="  ")] if self.step else []
        return "\n".join([self.title(), *table, *self.notes()])

    def _repr_html_(self) -> str:
        # A browser drops spaces at the beginning of a cell.
        rows = [(line, op.replace("  ", "\u00a0\u00a0"), result, made) for line, op, result, made in self.rows()]
        return html_table(HEADERS if rows else (), rows, caption="; ".join([self.title().rstrip(":"), *self.notes()]))


def number(raw: bytes, element_bytes: int, floats: bool, wide: bool) -> float | None:
    """Return the first element of these bytes; None if they are too few, or of another type. wide: see ``Origin``."""
    kind = _TYPES.get((element_bytes, floats))
    if len(raw) < element_bytes or kind is None:
        return None
    kind = ml_dtypes.bfloat16 if wide and kind is np.float16 else kind
    return float(np.frombuffer(raw[:element_bytes], kind)[0])


def _rounds(step: OriginStep) -> str:
    before = max((source.rounds for source in step.sources), default=0)
    return f" (and {before} round{'s' if before > 1 else ''} before)" if before else ""


def _text(value: float | None) -> str:
    return "?" if value is None else f"{value:.6g}"
