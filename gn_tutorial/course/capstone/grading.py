"""An operator's folder graded: right, without findings, the same with ``--strict``, and how near to its bound.

Small cases come first; the grid, whose launches take longer, only if all of them are right. Every launch is made twice,
as a kernel is launched by default, which is the one that is timed, and with the twin's strict options.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.course.capstone.cases import DTYPES, TIMED, Graded, GradedCase, graded
from gn_tutorial.course.capstone.grade import NOT_RUN, RIGHT, WRONG, Grade, GradeLoss, GradeRow
from gn_tutorial.cpp.forbidden_calls import forbidden
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import CompileError, GntError, KernelFault, KernelTimeout
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.profiler.profile import profile_of, run_traced
from gn_tutorial.timing.machine import Machine, default_machine

_LIMITS = Limits(seconds=60.0)
_UNORDERED = "race-same-pipe"


def grade(folder: Path | str, *, tell: Callable[[int, int, str], None] = lambda done, total, text: None) -> Grade:
    """Grade the operator in ``folder`` (``gnt new``), or a registered one.

    tell: called with how many launches are done, of how many, and what comes next. Raises RegistryError or
    ArgumentError for files that say no operator, CompileError for a kernel or a tiling header that does not compile.
    """
    held, machine = graded(str(folder)), default_machine()
    kernel = Kernel.registered(held.op, held.spec)
    losses = list(_before(held, kernel))
    rows: list[GradeRow] = []
    if losses:
        rows = [_not_run(held, case) for case in held.cases]
        return Grade(held.op.name, machine.name, tuple(rows), tuple(losses))
    kernel.build()
    grading = _Grading(held, kernel, machine, zlib.crc32(kernel.source.encode()))
    for done, case in enumerate(held.cases):
        tell(done, len(held.cases), case.bench.label(held.op))
        rows.append(grading.row(case))
    tell(len(held.cases), len(held.cases), "")
    losses = sorted((*grading.losses, *_lacking(held)), key=lambda loss: loss.turn)
    return Grade(held.op.name, machine.name, tuple(rows), tuple(losses))


def _not_run(held: Graded, case: GradedCase) -> GradeRow:
    shows = re.split("[,:]", case.means)[0]
    return GradeRow(case.bench.label(held.op), NOT_RUN, NOT_RUN, shows=shows)


def _before(held: Graded, kernel: Kernel) -> list[GradeLoss]:
    """What is known without a launch."""
    broken = forbidden(held.forbidden, {path.name: _text(path) for path in _sources(held)})
    if not broken:
        return []
    return [GradeLoss(f"{broken.what.partition(',')[0]}: here the vector instructions are asked for", broken.where)]


def _lacking(held: Graded) -> list[GradeLoss]:
    """The dtypes that are asked for, and that ``op.toml`` does not name."""
    lacking = [dtype for dtype in DTYPES if held.op.capstone and dtype not in held.spec.dtypes]
    if not lacking:
        return []
    what = f"the kernel takes {', '.join(held.spec.dtypes)}; {' and '.join(lacking)} is asked for too"
    read = "Notebook 15, section 'The grade': one kernel for both"
    return [GradeLoss(what, f"{held.op.file.name}: dtypes", read, turn=_turn(lacking[0], strict=False))]


def _turn(dtype: str, *, strict: bool) -> int:
    return 2 * (dtype != TIMED) + strict


def _no_halves(held: Graded) -> bool:
    """Whether no file of a capstone's kernel names a type of two bytes; other folders may include one that does."""
    if not held.op.capstone:
        return False
    texts = (re.sub(r"//.*|/\*(?s:.*?)\*/", "", _text(path)) for path in _sources(held))
    return not any(re.search(r"\b(half|float16_t|__fp16|DTYPE_\w+)\b", text) for text in texts)


def _sources(held: Graded) -> list[Path]:
    return [path for path in sorted(held.op.folder.iterdir()) if path.suffix in (".cpp", ".h") and path.is_file()]


def _text(path: Path) -> str:
    """What is no UTF-8 does not matter here: a launch says it."""
    return path.read_text("utf-8-sig", "replace") if path.is_file() else ""


def _unwritten_place(held: Graded) -> str:
    """Where the kernel still says YOUR TURN."""
    lines = _text(held.spec.file).splitlines()
    return next(
        (f"{held.spec.file.name}:{at}" for at, line in enumerate(lines, 1) if line.strip().startswith("// YOUR TURN")),
        "",
    )


@dataclass
class _Grading:
    """One folder while it is graded. endless: a launch did not end, and none is made any more."""

    held: Graded
    kernel: Kernel
    machine: Machine
    seed: int
    endless: bool = False

    def __post_init__(self) -> None:
        self.losses: list[GradeLoss] = []

    def row(self, case: GradedCase) -> GradeRow:
        """Both launches of a case; what goes wrong joins the losses."""
        row = _not_run(self.held, case)
        if self.losses and case in self.held.grid and self.held.small:
            return row
        if self.endless or case.bench.dtype not in self.held.spec.dtypes:
            return row
        arrays = case.arrays(self.held.op, self.seed)
        expected = random_inputs.expected(self.held.op, arrays, case.bench.attributes)
        result, word = self._launch(case, arrays, expected, TwinOptions())
        row = replace(row, right=word)
        if result is None or word != RIGHT or self.endless:
            return row
        row = replace(row, strict=self._launch(case, arrays, expected, TwinOptions().strict())[1])
        if not case.timed:
            return row
        made = profile_of(result, machine=self.machine, inputs=arrays, group=self.held.op.group)
        return replace(row, modelled_us=made.microseconds, bound_us=made.bound and made.bound.microseconds)

    def _launch(
        self, case: GradedCase, arrays: dict[str, np.ndarray], expected: dict[str, np.ndarray], options: TwinOptions
    ) -> tuple[Result | None, str]:
        strict = options != TwinOptions()
        turn = _turn(case.bench.dtype, strict=strict)
        where = f"{'with --strict, ' if strict else ''}{case.bench.label(self.held.op)}"
        where += f": {case.means}" if case.means else ""
        if case.bench.dtype == "float16" and _no_halves(self.held):
            what = "the kernel reads the halves of x as floats: none of its files names half"
            read = "Notebook 15, section 'The grade': one kernel for both"
            return None, self._lose(GradeLoss(f"{where}: {what}", self.held.spec.file.name, read, turn=turn))
        call = run_traced if case.timed and not strict else Kernel.__call__
        try:
            result = call(
                self.kernel, *arrays.values(), blocks=self.machine.cores, options=options, limits=_LIMITS,
                **case.bench.attributes,
            )  # fmt: skip
        except CompileError:
            raise
        except KernelFault as error:
            if not error.diagnostics:
                return None, self._lose(GradeLoss(f"{where}: {error.what}", turn=turn))
            return None, self._found(error.diagnostics, where, turn)
        except GntError as error:
            self.endless = isinstance(error, KernelTimeout)
            return None, self._lose(GradeLoss(f"{where}: {error.what}", error.where, error.hint, turn=turn))
        if result.diagnostics:
            return result, self._found(result.diagnostics, where, turn)
        return result, self._compared(case, result, expected, GradeLoss(where, turn=turn))

    def _found(self, all_of_them: Sequence[Diagnostic], where: str, turn: int) -> str:
        """The first finding; of instructions of one pipe that nothing orders, every pair."""
        one = all_of_them[0]
        what, place, read = f"{one.what} [{one.id}]", f"{Path(one.file).name}:{one.line}", f"gnt explain {one.id}"
        pairs = [other for other in all_of_them if (other.id, other.file) == (_UNORDERED, one.file)]
        if one.id == _UNORDERED and len(pairs) > 1:
            what += f" {len(pairs)} such pairs have no PipeBarrier in between."
            lines = (f"{other.fields.get('other_line', '?')} and {other.line}" for other in pairs)
            place = f"{Path(one.file).name}, lines {', '.join(dict.fromkeys(lines))}"
        race = one.id.startswith("race-")
        if race and turn % 2:
            read = f"Notebook 15, section 'The grade'; {read}"
        source = one.source().replace(f"{Path(one.file).parent}{os.sep}", "")
        # What is approximate with --strict may be why numbers elsewhere are wrong: it is told among them.
        self._lose(GradeLoss(f"{where}: {what}", place, read, source, turn if race else turn // 2 * 2))
        return one.id

    def _compared(self, case: GradedCase, result: Result, expected: dict[str, np.ndarray], loss: GradeLoss) -> str:
        wrong = next((row for row in result.compare(expected, self.held.spec.tolerance).rows if row.wrong), None)
        if wrong is None:
            return RIGHT
        where = _unwritten_place(self.held)
        return self._lose(replace(loss, what=f"{loss.what}: {wrong.report()}", where=where, read=case.read))

    def _lose(self, loss: GradeLoss) -> str:
        self.losses.append(loss)
        return WRONG
