"""Checks puzzles: ``puzzle("04.count", lines)`` runs the lines, compares their results, and names the mistake."""

from __future__ import annotations

import tempfile
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.abi.trace import Kind, Tracing
from gn_tutorial.compare.comparison import compare
from gn_tutorial.compare.elements import mismatch, spots
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.course.exercises.check_kernel import compiler_said, here
from gn_tutorial.course.exercises.verdict import Verdict
from gn_tutorial.course.mistakes import code_of, names_of, recognised
from gn_tutorial.course.progress import ProgressFile, default_progress
from gn_tutorial.course.puzzles.bank import Puzzle, find
from gn_tutorial.course.puzzles.frame import FILL, Framed, framed
from gn_tutorial.course.puzzles.picture import SEVERAL, Lanes
from gn_tutorial.course.quizzes.quiz_question import marked
from gn_tutorial.course.source_html import excerpt_html, unwrapped
from gn_tutorial.diagnostics.catalogue import harmless_forms
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import ArgumentError, CompileError, KernelError, KernelFault, KernelTimeout
from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.profiler.profile import Profile, profile_of
from gn_tutorial.profiler.svg import svg_gantt

ATOL = 1e-6
#: The time limit of a launch. A right answer takes milliseconds.
_SECONDS = 2.0
_TRACING = Tracing(bytes=8 << 20)


def puzzle(name: str, lines: str = "", *, progress: ProgressFile | None = None) -> PuzzleResult:
    """Check the lines of the puzzle with the id ``name``; a notebook shows the result as a picture.

    Lines without code are not run; they count as "not attempted yet". A pass is noted in the learner's progress. Raises
    ArgumentError for an unknown puzzle.
    """
    chosen = find(name)
    result = check(chosen, str(lines))
    if result.passed:
        (progress or default_progress()).update(lambda known: known.with_puzzle(chosen.id))
    return result


def check(chosen: Puzzle, lines: str) -> PuzzleResult:
    """Check the lines as ``puzzle`` does, but do not store a pass."""
    rng = np.random.default_rng(zlib.crc32(f"{chosen.id}{lines}".encode("utf-8", "surrogatepass")))
    data = Data.of(chosen, rng)
    begun = bool(code_of(lines))
    inside = lines.strip("\n") if begun else "// your lines"
    kernel_text = framed(chosen.frame, data.inputs, data.want, chosen.before, inside, chosen.after)
    if not begun:
        return PuzzleResult(chosen, "not attempted", kernel_text)
    with tempfile.TemporaryDirectory(prefix="gnt-puzzle-") as folder:
        path = Path(folder) / f"{chosen.id.replace('.', '_')}.cpp"
        path.write_text(kernel_text.text, encoding="utf-8", errors="backslashreplace")
        verdict, lanes, profile = _Attempt(chosen, lines, data, path).judged()
    status = "failed" if verdict else "passed"
    return PuzzleResult(chosen, status, kernel_text, verdict, lanes, profile)


@dataclass(frozen=True)
class Data:
    """The arrays of one check: the inputs, and the right outputs."""

    inputs: Mapping[str, np.ndarray]
    want: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, chosen: Puzzle, rng: np.random.Generator) -> Data:
        """Evaluate the puzzle's expressions and return their arrays; float64 becomes float32."""
        names: dict[str, Any] = {"np": np, "rng": rng, "fill": float(FILL)}
        arrays = {}
        for name, expression in [*chosen.inputs.items(), *chosen.outputs.items()]:
            array = np.asarray(eval(expression, {}, names))
            arrays[name] = names[name] = array.astype(np.float32) if array.dtype == np.float64 else array
        return cls({name: arrays[name] for name in chosen.inputs}, {name: arrays[name] for name in chosen.outputs})


@dataclass(frozen=True)
class _Attempt:
    """A learner's lines, as a kernel in a file."""

    chosen: Puzzle
    lines: str
    data: Data
    path: Path

    def judged(self) -> tuple[Verdict | None, tuple[Lanes, ...], Profile | None]:
        """Run the lines. Return the verdict (None if the lines are right), what they wrote, and the profile.

        What they wrote is empty if no launch gave a result. The profile is None unless the picture is "pipes".
        """
        found = kernel(self.path, optimise="little")
        options = TwinOptions(**self.chosen.options)
        try:
            result = self._launch(found, options)
        except CompileError as error:
            said = compiler_said(error, self.path).replace("the kernel does", "this does", 1)
            return self._known(Verdict(said, detail=here(error.detail, self.path))), (), None
        except KernelFault as error:
            first = next((one for one in error.diagnostics if one.severity == "error"), None)
            if first is None:
                return Verdict(error.what), (), None
            after = self._after(found, options, {one.id for one in error.diagnostics if one.severity == "error"})
            return self._fault(first, after), self._lanes(after), None
        except KernelTimeout:
            return Verdict("this never ends: a loop does not reach its bound"), (), None
        except KernelError as error:
            return self._known(Verdict(error.what)), (), None
        except ArgumentError as error:
            return Verdict(f"the kernel cannot be called: {error.what}"), (), None
        lanes = self._lanes(result)
        return self._judge(result, lanes), lanes, self._profile(result)

    def _launch(self, found: Kernel, options: TwinOptions) -> Result:
        values = dict(self.data.inputs) | {name: out(one.shape, one.dtype) for name, one in self.data.want.items()}
        options = options.with_errors(harmless_forms())
        limits = Limits(seconds=_SECONDS)
        return found.run(blocks=self.chosen.blocks, limits=limits, options=options, tracing=_TRACING, **values)

    def _after(self, found: Kernel, options: TwinOptions, ids: set[str]) -> Result | None:
        """Launch again so that the findings ``ids`` do not stop the kernel. Return the result; None if this fails.

        The numbers are such as a device may give: if one of the findings is a race, copies are delayed.
        """
        races = any(one.startswith("race-") for one in ids)
        others = tuple(one for one in ids if not one.startswith("race-"))
        try:
            harmless = replace(options, warnings=others, races="ignore" if races else "report", delayed_dma=races)
            return self._launch(found, harmless)
        except (ArgumentError, KernelError):  # this launch ends without a result
            return None

    def _fault(self, first: Diagnostic, after: Result | None) -> Verdict:
        place = f"{Path(first.file).name}:{first.line}" if first.file else ""
        fix = textwrap.fill(f"fix: {first.fix}", 88, subsequent_indent="  ") if first.fix else ""
        detail = "\n".join(filter(None, (here(first.source(), Path(first.file)) if first.file else "", fix)))
        found = Verdict(first.what, f"block {first.block}" if self.chosen.blocks > 1 else "", place, detail)
        return self._known(found, first.id, after)

    def _judge(self, result: Result, lanes: Sequence[Lanes]) -> Verdict | None:
        wrong = next((one for one in lanes if one.wrong.any()), None)
        if wrong is not None:
            return self._known(Verdict(_said(wrong)), after=result)
        warning = next(iter(result.diagnostics), None)
        return self._known(None, after=result) if warning is None else self._fault(warning, result)

    def _known(self, verdict: Verdict | None, finding: str = "", after: Result | None = None) -> Verdict | None:
        """Return the verdict; if the puzzle recognises the mistake, with the sentence of this mistake."""
        names = self._names(after, verdict.message if verdict else "")
        with np.errstate(all="ignore"):
            one = recognised(self.chosen.wrong, names, right=verdict is None, finding=finding)
        if one is None:
            return verdict
        if verdict is None:
            return Verdict(one.say)
        return replace(verdict, message=one.say, detail=_below(verdict, finding))  # the finding stays below it

    def _names(self, result: Result | None, said: str) -> dict[str, Any]:
        """Return the variables that a ``when`` may use: those of ``names_of``, ``np``, ``fill`` and the arrays.

        For an output y, the variable ``y`` has the values that the lines wrote, and ``y_want`` the right values.
        Without a result there are no such variables.
        """
        trace, timeline = (result.trace, lambda: profile_of(result).timeline) if result else (None, None)
        names = names_of(self.lines, said, trace, timeline) | {"np": np, "fill": float(FILL)} | self.data.inputs
        for name, want in self.data.want.items() if result else ():
            names |= {name: result[name], f"{name}_want": want}
        return names

    def _lanes(self, result: Result | None) -> tuple[Lanes, ...]:
        if result is None:
            return ()
        found = []
        for name, want in self.data.want.items():
            got = result[name].reshape(want.shape)
            flat, right = got.reshape(-1), want.reshape(-1)
            row = compare(name, got, want, Tolerance(self.chosen.rtol, ATOL, "the puzzle's"))
            if self.chosen.frame == "local":
                empty, meant = flat == FILL, right == FILL
            else:
                empty, meant = unwritten(flat), np.zeros(flat.size, dtype=bool)
            blocks = _writers(result, name, flat) if self.chosen.picture == "blocks" else None
            found.append(Lanes(name, got, want, row.evidence.wrong, empty, meant, blocks))
        return tuple(found)

    def _profile(self, result: Result) -> Profile | None:
        return profile_of(result) if self.chosen.picture == "pipes" else None


def _said(lanes: Lanes) -> str:
    """Return a sentence about the first wrong element, for lines in which no named mistake is recognised."""
    missing = lanes.wrong & lanes.empty & ~lanes.meant
    if missing.any():
        some = "nothing of" if missing.all() else "part of"
        return f"{some} {lanes.name} is written: {spots(lanes.name, missing)} still holds what was there before"
    spoilt = lanes.wrong & lanes.meant
    if spoilt.any():
        return f"{spots(lanes.name, spoilt)} is written, and should stay as it was"
    at = int(lanes.wrong.argmax())
    return mismatch(f"{lanes.name}[{at}]", lanes.got.reshape(-1)[at], lanes.want.reshape(-1)[at])


def _below(verdict: Verdict, finding: str) -> str:
    found = textwrap.fill(f"found: {verdict.message}" if finding else verdict.message, 88)
    return "\n".join(filter(None, (found, verdict.detail)))


def _writers(result: Result, name: str, flat: np.ndarray) -> np.ndarray:
    """Return the number of the block that wrote each element: -1 for none, SEVERAL for more than one."""
    writers = np.full(flat.size, -1)
    if result.trace is None:
        return writers
    begin = next(one.address for one in result.trace.arguments if one.name == name)
    for block, events in result.trace.blocks.items():
        for event in events:
            for one in event.operands:
                if one.argument == name and event.kind is Kind.COPY:
                    first = (one.at - begin) // flat.itemsize
                    part = writers[max(first, 0) : first + one.bytes // flat.itemsize]
                    part[:] = np.where((part == -1) | (part == block), block, SEVERAL)
    return writers


_COLUMNS = 88


@dataclass(frozen=True, repr=False)
class PuzzleResult:
    """The result of a puzzle: programs read ``result.passed``, and a notebook shows the object itself.

    kernel: the learner's lines and the lines around them. verdict: None unless the status is "failed". lanes: what the
    learner's lines wrote; empty if there is no result. profile: None unless the picture is "pipes".
    """

    puzzle: Puzzle
    status: Literal["passed", "failed", "not attempted"]
    kernel: Framed
    verdict: Verdict | None = None
    lanes: tuple[Lanes, ...] = ()
    profile: Profile | None = None

    @property
    def passed(self) -> bool:
        """Whether the lines are right."""
        return self.status == "passed"

    @property
    def message(self) -> str:
        """The sentence about the mistake; empty if there is none."""
        return self.verdict.message if self.verdict else ""

    def head(self) -> str:
        """Return the verdict in one line."""
        said = {"passed": "passed", "failed": "not right yet", "not attempted": "not attempted yet"}[self.status]
        return f"Puzzle {self.puzzle.id} ({self.puzzle.title}): {said}"

    def code(self) -> str:
        """Return the puzzle's lines and the learner's, numbered as in the kernel; a bar marks the learner's lines."""
        lines = self.kernel.text.splitlines()
        (first, last), (begin, end) = self.kernel.shown, self.kernel.own
        return "\n".join(
            f"{number:3} {'|' if begin <= number <= end else ' '}{lines[number - 1]}"
            for number in range(first, last + 1)
        )

    def __repr__(self) -> str:
        parts = [self.head()]
        if self.verdict:
            parts += textwrap.wrap(self.verdict.message, _COLUMNS, initial_indent="  ", subsequent_indent="  ")
            parts += [f"  where: {one}" for one in (self.verdict.where, self.verdict.case) if one]
            parts += [f"  {line}".rstrip() for line in self.verdict.detail.splitlines()]
        parts += [one.text() for one in self.lanes]
        if not self.passed:
            parts.append(self.code())
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{escape(self.head())}</b></p>"]
        if self.verdict:
            where = ", ".join(filter(None, (self.verdict.where, self.verdict.case)))
            parts.append(f"<p>{marked(self.verdict.message)}{f' ({escape(where)})' if where else ''}</p>")
            parts.append(excerpt_html(self.verdict.detail, None) if self.verdict.detail else "")
        parts += [f'<div style="overflow-x:auto">{one.svg()}</div>' for one in self.lanes]
        if self.profile:
            parts.append(f'<div style="overflow-x:auto">{svg_gantt(self.profile.timeline)}</div>')
        code = unwrapped(escape(self.code()))
        parts.append(_opens("the lines around yours", code) if self.passed else code)
        parts.append(_opens("the whole kernel", unwrapped(escape(self.kernel.text))))
        if self.passed:
            parts.append(_opens("our lines", unwrapped(escape(self.puzzle.solution.strip("\n")))))
        else:
            parts += [_opens(f"Hint {n}", marked(one)) for n, one in enumerate(self.puzzle.hints, 1)]
        return "".join(parts)


def _opens(title: str, html: str) -> str:
    return f"<details><summary>{title}</summary>{html}</details>"
