"""Grades an operator: its results have to be right without findings, also with ``--strict``; then its speed counts.

A capstone's small cases come first. Its grid, whose launches take longer, runs only until the first fault of any case.
Other operators have only a grid, and a wrong result does not stop it. A case is launched with the twin's default
options, which give its modelled time. If the result is right, the case is launched with the strict options too, and if
the caller asks for explicit waits, without the waits that the compiler adds.
"""

from __future__ import annotations

import itertools
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, structs

from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.compiler.preprocess import kernel_texts
from gn_tutorial.course.capstone.grade import NOT_RUN, RIGHT, WRONG, Grade, GradeLoss, GradeRow
from gn_tutorial.course.capstone.starter import OPERATORS, capstone_folder, start_folder
from gn_tutorial.cpp.forbidden_calls import forbidden
from gn_tutorial.cpp.queries import comments, words
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import ArgumentError, CompileError, GntError, KernelFault, KernelTimeout, RegistryError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.registry import find_operator
from gn_tutorial.operators.result import Result
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.profiler.bench.grid import BenchCase, load_grid
from gn_tutorial.profiler.profile import profile_of, run_traced
from gn_tutorial.timing.machine import Machine, default_machine
from gn_tutorial.toml_file import decode

_LIMITS = Limits(seconds=60.0)
_UNORDERED = "race-same-pipe"


def grade(
    folder: Path | str,
    *,
    explicit_waits: bool = False,
    tell: Callable[[int, int, str], None] = lambda done, total, text: None,
) -> Grade:
    """Return the grade of the operator in ``folder`` (made by ``gnt new``), or of the registered operator of that name.

    explicit_waits: whether the strict launches are made without the waits that the compiler adds. tell: called with the
    number of cases done, the number of all, and the next case's label; "" when all are done.
    Raises RegistryError or ArgumentError for files that define no operator, CompileError for a kernel or a tiling
    header that does not compile.
    """
    held, machine = graded(str(folder)), default_machine()
    kernel = Kernel.registered(held.op, held.spec)
    losses = list(_before(held, kernel))
    rows: list[GradeRow] = []
    if losses:
        rows = [_not_run(held, case) for case in held.cases]
        return Grade(held.op.name, machine.name, tuple(rows), tuple(losses))
    kernel.build()
    grading = _Grading(held, kernel, machine, zlib.crc32(kernel.source.encode()), explicit_waits)
    for done, case in enumerate(held.cases):
        tell(done, len(held.cases), case.bench.label(held.op))
        rows.append(grading.row(case))
    tell(len(held.cases), len(held.cases), "")
    losses = sorted((*grading.losses, *_lacking(held)), key=lambda loss: loss.turn)
    return Grade(held.op.name, machine.name, tuple(rows), tuple(losses), str(kernel.check_spaces()))


def _not_run(held: Graded, case: GradedCase) -> GradeRow:
    shows = case.means.partition(",")[0].partition(":")[0]
    return GradeRow(case.bench.label(held.op), NOT_RUN, NOT_RUN, shows=shows)


def _before(held: Graded, kernel: Kernel) -> list[GradeLoss]:
    """Return the losses that are known before any launch: one for the first forbidden call, if there is any."""
    if not held.forbidden:
        return []
    files = {path.name: _text(path) for path in _sources(held)}
    broken = forbidden(held.forbidden, kernel_texts(files, near=held.op.folder))
    if not broken:
        return []
    return [GradeLoss(f"{broken.what.partition(',')[0]}: here the vector instructions are asked for", broken.where)]


def _lacking(held: Graded) -> list[GradeLoss]:
    """Return one loss if ``op.toml`` of a capstone lacks dtypes that the capstone has to take, else none."""
    lacking = [dtype for dtype in DTYPES if held.op.capstone and dtype not in held.spec.dtypes]
    if not lacking:
        return []
    what = f"the kernel takes {', '.join(held.spec.dtypes)}; {' and '.join(lacking)} is asked for too"
    read = "Notebook 15, section 'The grade': one kernel for both"
    return [GradeLoss(what, f"{held.op.file.name}: dtypes", read, turn=_turn(lacking[0], strict=False))]


def _turn(dtype: str, *, strict: bool) -> int:
    return 2 * (dtype != TIMED) + strict


def _no_halves(held: Graded) -> bool:
    """Whether this is a capstone, and none of its files names float16 (half, float16_t, __fp16) or a macro DTYPE_*.

    False for other operators, which may get such a name from an included file outside their folder.
    """
    if not held.op.capstone:
        return False
    named = {word for path in _sources(held) for word in words(_text(path), directives=True)}
    return named.isdisjoint(("half", "float16_t", "__fp16")) and not any(one.startswith("DTYPE_") for one in named)


def _sources(held: Graded) -> list[Path]:
    return [path for path in sorted(held.op.folder.iterdir()) if path.suffix in (".cpp", ".h") and path.is_file()]


def _text(path: Path) -> str:
    """Return the file's text; "" if there is no file. Wrong UTF-8 is replaced here; the launch reports it."""
    return path.read_text("utf-8-sig", "replace") if path.is_file() else ""


def _unwritten_place(held: Graded) -> str:
    """Return ``file:line`` of the first comment YOUR TURN in the kernel; "" if there is none."""
    found = (line for line, comment in comments(_text(held.spec.file)) if comment.startswith("// YOUR TURN"))
    return next((f"{held.spec.file.name}:{line}" for line in found), "")


@dataclass
class _Grading:
    """The grading of one operator.

    explicit_waits: as for ``grade``. endless: whether a launch did not end; then no further launch is made.
    """

    held: Graded
    kernel: Kernel
    machine: Machine
    seed: int
    explicit_waits: bool = False
    endless: bool = False

    def __post_init__(self) -> None:
        self.losses: list[GradeLoss] = []

    def row(self, case: GradedCase) -> GradeRow:
        """Launch a case and return its row; add its faults to the losses."""
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
        strict = TwinOptions(auto_sync="off" if self.explicit_waits else "on").strict()
        row = replace(row, strict=self._launch(case, arrays, expected, strict)[1])
        if not case.timed:
            return row
        made = profile_of(result, machine=self.machine, inputs=arrays, group=self.held.op.group)
        return replace(row, modelled_us=made.microseconds, bound_us=made.bound and made.bound.microseconds)

    def _launch(
        self, case: GradedCase, arrays: dict[str, np.ndarray], expected: dict[str, np.ndarray], options: TwinOptions
    ) -> tuple[Result | None, str]:
        strict = options != TwinOptions()
        turn = _turn(case.bench.dtype, strict=strict)
        words = "with --strict and --waits explicit, " if self.explicit_waits else "with --strict, "
        where = f"{words if strict else ''}{case.bench.label(self.held.op)}"
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
        """Add the first finding to the losses and return its id.

        If it is a ``race-same-pipe``, the loss names the lines of all such pairs in the same file.
        """
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
        # A finding of --strict that is no race may explain wrong numbers, so it is sorted like wrong numbers.
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


#: The dtypes that a kernel of a capstone has to take.
DTYPES = ("float32", "float16")
#: In a capstone, the share of the bound counts for this dtype only. In float16 the vector unit limits the time, and the
#: bound does not count vector instructions (docs/benchmark.md, section 'How near the bound a kernel can come').
TIMED = "float32"


@dataclass(frozen=True)
class GradedCase:
    """One shape and dtype. timed: whether its share of the bound counts.

    mean, spread: mean and standard deviation of the first input; if spread is None, ``random_inputs`` draws that input.
    means: what this case shows, for a message. read: where the course explains that.
    """

    bench: BenchCase
    timed: bool = True
    mean: float = 0.0
    spread: float | None = None
    means: str = ""
    read: str = ""

    def arrays(self, op: OpSpec, seed: int) -> dict[str, np.ndarray]:
        """Return the inputs by name; the same ones for the same seed."""
        case = self.bench
        made = random_inputs.inputs(op, case.shape, seed=seed, dtype=case.dtype, attributes=case.attributes)
        if self.spread is not None:
            drawn = random_inputs.generator(seed).standard_normal(case.shape)
            made[next(iter(made))] = np.asarray(drawn * self.spread + self.mean, as_dtype(case.dtype))
        return made


class _Case(Struct, frozen=True, forbid_unknown_fields=True):
    shape: tuple[int, ...]
    attributes: Mapping[str, Any] = {}
    mean: float = 0.0
    spread: float | None = None
    means: str = ""
    read: str = ""

    def graded(self, dtype: str) -> GradedCase:
        bench = BenchCase(self.shape, self.attributes, dtype)
        return GradedCase(bench, False, self.mean, self.spread, self.means, self.read)


class _Capstone(Struct, frozen=True, forbid_unknown_fields=True):
    forbidden: tuple[str, ...]
    case: tuple[_Case, ...]


@dataclass(frozen=True)
class Graded:
    """The input of a grading: the operator with its reference, the learner's kernel, its cases, and forbidden names.

    small: the cases that come first, for a capstone only. grid: the other cases. In a capstone no case of the grid is
    launched after a fault.
    """

    op: OpSpec
    spec: KernelSpec
    grid: tuple[GradedCase, ...]
    small: tuple[GradedCase, ...] = ()
    forbidden: tuple[str, ...] = ()

    @property
    def cases(self) -> tuple[GradedCase, ...]:
        """All cases, the small ones first."""
        return (*self.small, *self.grid)


def graded(folder: str) -> Graded:
    """Return the input of a grading. folder: the operator's folder, or a registered name.

    The operator's last kernel is graded. A capstone gets the course's arguments, reference, tolerance and shapes,
    whatever the folder's files say; any other operator keeps its own. Raises RegistryError for an unknown operator or
    capstone and for an ``op.toml`` that cannot be read, ArgumentError if arguments or attributes differ from those of
    the capstone.
    """
    op = find_operator(folder)
    spec = op.kernels[-1]
    if not op.capstone:
        return Graded(op, spec, tuple(GradedCase(one) for one in load_grid(op).cases))
    if op.capstone not in OPERATORS[:-1]:
        raise RegistryError(f"there is no capstone '{op.capstone}'", where=str(op.file), hint=", ".join(OPERATORS[:-1]))
    ours = find_operator(start_folder(op.capstone))
    if _called(op) != _called(ours):
        asked = ", ".join(f"{a.role} {a.name}" for a in ours.arguments)
        raise ArgumentError(
            f"op.toml has other arguments than {op.capstone}", where=str(op.file), hint=f"asked for: {asked}"
        )
    spec = structs.replace(spec, tolerance=ours.kernels[0].tolerance)
    held = structs.replace(
        ours, name=op.name, file=op.file, tiling=op.tiling, kernels=(spec,), reference=_of_course(ours)
    )
    extra = decode(capstone_folder() / f"{op.capstone}.toml", _Capstone, "the capstone's cases")
    grid = tuple(GradedCase(one, timed=one.dtype == TIMED) for one in load_grid(ours).cases)
    plain = _Case(tuple(ours.example["shape"]))
    small = tuple(case.graded(dtype) for case, dtype in itertools.product((plain, *extra.case), DTYPES))
    return Graded(held, spec, grid, small, extra.forbidden)


def _called(op: OpSpec) -> tuple[object, ...]:
    return op.attributes, tuple((a.name, a.role, a.dtype, a.shape, a.like) for a in op.arguments)


def _of_course(op: OpSpec) -> str:
    file, _, name = op.reference.partition(":")
    return f"{op.folder / file}:{name}"
