"""Checks a kernel: it compiles, the twin reports nothing, each output is written and right, no input is changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.abi.trace import Tracing
from gn_tutorial.compare.accuracy import accuracy, misses_standard
from gn_tutorial.compare.comparison import ComparisonRow, compare
from gn_tutorial.compare.elements import mismatch, spots
from gn_tutorial.compare.patterns import Reader, recognised
from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.course.exercises.verdict import Verdict
from gn_tutorial.course.mistakes import code_of
from gn_tutorial.diagnostics.catalogue import harmless_forms
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import ArgumentError, CompileError, KernelCrash, KernelError, KernelFault, KernelTimeout
from gn_tutorial.operators import space_findings
from gn_tutorial.operators.arguments import inout, out, workspace
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.translation.texts import translated


@dataclass(frozen=True)
class Trap:
    """A fault that a right kernel must cause: its diagnostic's id and its block.

    The fault proves which block did the work, because the twin reports the block, and no kernel can fake that number.
    words: the message if another block causes the fault, with the field ``{block}``.
    """

    id: str
    block: int
    words: str


@dataclass(frozen=True)
class KernelCase:
    """One launch. inputs: arrays by parameter name. numbers: by-value parameters. expected: outputs by name.

    An array that inputs and expected both name is read and written. golden: float64 values of outputs by name; such an
    output must meet the standard of compare.accuracy instead of rtol and atol. trap: the fault that must stop a right
    kernel; the outputs are then not compared. workspace: bytes of scratch memory in global memory, by parameter name.
    """

    label: str
    inputs: Mapping[str, np.ndarray]
    numbers: Mapping[str, int | float]
    expected: Mapping[str, np.ndarray]
    blocks: int = 1
    trap: Trap | None = None
    golden: Mapping[str, np.ndarray] = field(default_factory=dict)
    workspace: Mapping[str, int] = field(default_factory=dict)


#: Returns a sentence if the launch shows a certain mistake, else None.
Symptom = Callable[[KernelCase, Result], str | None]


def by_scalars(result: Result, least: int) -> str | None:
    """Return a complaint if a launch made at least ``least`` scalar accesses: a scalar loop does the work."""
    if result.tally.scalar < least:
        return None
    return "the scalar unit touches every element: use the instructions of the vector unit, in their count form"


#: Returns what a finding of the twin means in this case, from the facts of the case and of the finding; empty if there
#: is nothing to add.
FaultWords = Callable[[KernelCase, Diagnostic], str]


#: Text that a kernel with SyncAll must have (`KernelChecker.keeps`). The twin checks a kernel type only if one is set.
WAITING_CORES = {
    "KERNEL_TYPE_MIX_AIV_1_0": "the numbers are right, but the kernel's function has no "
    "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0). Add it: the device then starts the hardware that SyncAll needs",
}


@dataclass(frozen=True)
class KernelChecker:
    """Runs the cases in order, smallest first, and reports the first that fails.

    cases: returns the cases, drawn from a generator, so that shapes and numbers differ from attempt to attempt.
    symptoms: called when a number is wrong, before the general message. demands: called when every number is right, for
    properties that numbers do not show. faults: diagnostic id -> its meaning here; the id may be followed by the
    argument ("race-blocks dbeta") or by the pipe that is too early ("race-read-after-write PIPE_S"). auto_sync: whether
    the solution counts on the waits that the compiler adds by itself (docs/hardware-choices.md). options: of each
    launch. traced: whether results have a trace, for demands about which instructions ran, or when. orders: seeds of
    further orders of the blocks (TwinOptions.block_order), in which every output must have the same bits. keeps: text
    that the code without comments and blanks must have -> the message if it is missing; for what the twin cannot see.
    """

    cases: Callable[[np.random.Generator], Sequence[KernelCase]]
    rtol: float
    atol: float
    symptoms: tuple[Symptom, ...] = ()
    demands: tuple[Symptom, ...] = ()
    faults: Mapping[str, str | FaultWords] = field(default_factory=dict)
    seconds: float = 5.0
    auto_sync: bool = False
    options: TwinOptions = field(default_factory=TwinOptions)
    traced: bool = False
    orders: tuple[int, ...] = ()
    keeps: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _watching(self) -> TwinOptions:
        """The options, changed so that the harmless forms of findings are errors too."""
        return self.options.with_errors(harmless_forms())

    @cached_property
    def _limits(self) -> Limits:
        return Limits(seconds=self.seconds)

    def strict(self) -> KernelChecker:
        """Return this checker with the strict options.

        Address spaces are not checked in each launch, which may follow a save, but after a pass (``after_pass``).
        """
        return replace(self, options=space_findings.without(self.options.strict()))

    def with_explicit_waits(self) -> KernelChecker:
        """Return this checker without the waits that the compiler adds, unless the solution counts on them."""
        return self if self.auto_sync else replace(self, options=replace(self.options, auto_sync="off"))

    def check(self, path: Path, seed: int) -> Verdict | int:
        """Return the first thing that is wrong, or the number of cases if all is right."""
        # An attempt is compiled after each edit, and its launches take milliseconds, so compiling has to be fast.
        found = kernel(path, optimise="little")
        cases = self.cases(np.random.default_rng(seed))
        try:
            for case in cases:
                problem = self._run(found, case)
                if problem is not None:
                    return problem
        except CompileError as error:
            return Verdict(compiler_said(error, path), where=_place(error.where), detail=here(error.detail, path))
        except ArgumentError as error:
            hint = "leave the kernel's name and parameters as they were"
            return Verdict(f"the kernel cannot be called: {error.what} ({hint})", where=path.name)
        code = code_of(path.read_text(encoding="utf-8", errors="replace"))
        gone = next((words for text, words in self.keeps.items() if text not in code), None)
        return Verdict(translated(gone), where=path.name) if gone else len(cases)

    def _run(self, found: Kernel, case: KernelCase) -> Verdict | None:
        try:
            result = self._launch(found, case)
        except KernelFault as error:
            return self._in_order(found, case, error) or self._fault(case, error)
        except KernelTimeout as error:
            return Verdict("the kernel never ends: a loop does not reach its bound", case.label, _place(error.where))
        except KernelCrash as error:
            return Verdict(f"the kernel crashed: {error.what}", case.label, _place(error.where))
        except KernelError as error:
            return Verdict(error.what, case.label, _place(error.where))
        if case.trap is not None:
            return Verdict(f"no block did the work of block {case.trap.block}", case.label)
        return self._judge(case, result) or self._same_bits(found, case, result)

    def _same_bits(self, found: Kernel, case: KernelCase, result: Result) -> Verdict | None:
        """Return a verdict if an output's bits depend on the order of the blocks, which nobody chooses on a device."""
        for order in self.orders:
            options = replace(self._watching, block_order=order, threads=1)  # so a race always has the same verdict
            again = self._launch(found, case, observed=False, options=options)
            for name, want in case.expected.items():
                width = f"u{want.dtype.itemsize}"
                first, other = (one[name].reshape(-1) for one in (result, again))
                differs = first.view(width) != other.view(width)
                if differs.any():
                    at = int(differs.argmax())
                    return Verdict(
                        f"{name} is right, but not the same twice: in another order of the cores {name}[{at}] is "
                        f"{other[at]}, and not {first[at]}. The order of additions must not depend on which core "
                        "comes first",
                        case.label,
                    )
        return None

    def _launch(
        self, found: Kernel, case: KernelCase, *, observed: bool = True, options: TwinOptions | None = None
    ) -> Result:
        # Inputs go in as arrays that may be written, so that a kernel which writes one is noticed.
        values: dict[str, Any] = {name: inout(array) for name, array in case.inputs.items()}
        outputs = {name: array for name, array in case.expected.items() if name not in case.inputs}
        values |= {name: out(array.shape, array.dtype) for name, array in outputs.items()} | dict(case.numbers)
        values |= {name: workspace(size) for name, size in case.workspace.items()}
        options = options or self._watching
        # A bare library, without checks, refuses delayed copies; only observed launches have them.
        options = options if observed else replace(options, delayed_dma=False)
        tracing = Tracing() if self.traced and observed else None
        return found.run(
            blocks=case.blocks, limits=self._limits, observed=observed, options=options, tracing=tracing, **values
        )

    def _in_order(self, found: Kernel, case: KernelCase, error: KernelFault) -> Verdict | None:
        """After a race, run the blocks one after the other without checks; return a verdict if that shows a symptom.

        A race of two cores on one place is often not the mistake itself, but follows from a wrong division of the work.
        """
        if case.trap is not None or not any(one.id.startswith("race-") for one in error.diagnostics):
            return None
        try:
            result = self._launch(found, case, observed=False, options=replace(self._watching, threads=1))
        except KernelError:
            return None
        if not self._wrong(case, result):
            return None
        text = next((text for symptom in self.symptoms if (text := symptom(case, result))), None)
        return Verdict(text, case.label) if text else None

    def _fault(self, case: KernelCase, error: KernelFault) -> Verdict | None:
        first = next((one for one in error.diagnostics if one.severity == "error"), None)
        if first is None:
            return Verdict(error.what, case.label)
        if case.trap is not None and first.id == case.trap.id:
            other = Verdict(case.trap.words.format(block=first.block), case.label)
            return None if first.block == case.trap.block else other
        about = first.buffer or first.fields.get("memory", "")
        rule = harmless_forms().get(first.id, first.id)
        narrower = (f"{rule} {about}", f"{rule} {first.fields.get('pipe', '')}")
        known = next((self.faults[key] for key in (*narrower, rule) if key in self.faults), "")
        known = translated(known) if isinstance(known, str) else known(case, first)
        words = f"{known}: {first.what}" if known else _stopped(first.what)
        place = f"{Path(first.file).name}:{first.line}, block {first.block}" if first.file else f"block {first.block}"
        return Verdict(words, case.label, place, here(first.source(), Path(first.file)))

    def _judge(self, case: KernelCase, result: Result) -> Verdict | None:
        for name, before in case.inputs.items():
            if name in case.expected:
                continue
            changed = result[name].reshape(-1) != before.reshape(-1)
            if changed.any():
                words = translated("the kernel changed its input: {spots}; inputs are read only")
                return Verdict(words.format(spots=spots(name, changed)), case.label)
        wrong = self._wrong(case, result)
        if not wrong:
            found = next((text for demand in self.demands if (text := demand(case, result))), None)
            return Verdict(found, case.label) if found else _warned(case, result)
        origin = self._origin(wrong[0].name, case, result)
        text = next((text for symptom in self.symptoms if (text := symptom(case, result))), None)
        return Verdict(text or _words(wrong[0], case), case.label, detail=origin)

    def _origin(self, name: str, case: KernelCase, result: Result) -> str:
        """Return where the first wrong element comes from; empty if that is unknown or takes long to find."""
        found = result.compare({name: case.expected[name]}, rtol=self.rtol, atol=self.atol).origin
        return repr(found) if found and found.step else ""

    def _wrong(self, case: KernelCase, result: Result) -> list[ComparisonRow]:
        """Return the rows of the outputs that are wrong."""
        tolerance = Tolerance(self.rtol, self.atol, "the exercise's")
        rows = (compare(name, result[name], want, tolerance) for name, want in case.expected.items())
        return [row for row in rows if not _right(row, case)]


def _right(row: ComparisonRow, case: KernelCase) -> bool:
    return accuracy(row.evidence.output, case.golden[row.name]).ok if row.name in case.golden else row.ok


def _words(row: ComparisonRow, case: KernelCase) -> str:
    """Return the general message on a wrong output, for when no symptom of the exercise recognises it."""
    seen = row.evidence
    if said := recognised(seen, Reader.KERNEL_EXERCISE):
        return said[0]
    if row.name in case.golden:
        return misses_standard(row.name, seen.output, case.golden[row.name])
    got, want = (one.reshape(-1)[seen.first] for one in (seen.output, seen.reference))
    return mismatch(f"{row.name}[{seen.first}]", got, want)


def _warned(case: KernelCase, result: Result) -> Verdict | None:
    first = next(iter(result.diagnostics), None)
    if first is None:
        return None
    place = f"{Path(first.file).name}:{first.line}"
    words = translated("the numbers are right, but the twin warns: {what} ({place})")
    what = words.format(what=first.what, place=place)
    return Verdict(what, case.label, place, here(first.source(), Path(first.file)))


def _stopped(what: str) -> str:
    return translated("the twin stopped the kernel: {what}").format(what=what)


def _place(where: str) -> str:
    return where.rsplit("/", 1)[-1]


def here(text: str, path: Path) -> str:
    """Return the text without the path of the learner's folder."""
    return text.replace(f"{path.parent}{os.sep}", "")


def compiler_said(error: CompileError, path: Path) -> str:
    """Return the compiler's first message, with a hint where the cause is certain.

    If the error has no messages, return its sentence, with the file's name in place of its path.
    """
    if not error.errors:
        return error.what.replace(error.where.partition(":")[0] or path.name, path.name)
    hint = f"; {error.hint}" if error.hint else ""
    words = translated("the kernel does not compile: {message}{hint}")
    return words.format(message=error.errors[0].message, hint=hint)
