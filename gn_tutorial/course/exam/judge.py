"""The strict judge of the practical exam. It makes hidden calls with all checks, and compares every element of outputs.

It puts the sources of the folder's op_host and op_kernel into a fresh folder of the task, so changes to other files
do not count. The project's host functions and its kernel run isolated, as in ``gnt project``.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.compare.elements import spots
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.compiler.preprocess import kernel_texts
from gn_tutorial.course.exam.marks import Ledger, Loss, Marks, all_lost
from gn_tutorial.course.exam.submission_files import HandedIn, handed_in, judged_folder
from gn_tutorial.course.exam.task import SPEED, HiddenCall, Task, bound_call, draw
from gn_tutorial.course.exam.tiling_requirements import unmet
from gn_tutorial.cpp.forbidden_calls import forbidden
from gn_tutorial.cpp.source_text import short
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import ArgumentError, CompileError, GntError, KernelFault, KernelTimeout
from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.operators.space_findings import findings_of
from gn_tutorial.profiler.profile import profile_of, run_traced
from gn_tutorial.projects.call import OpCall
from gn_tutorial.projects.dtype_columns import dtype_name
from gn_tutorial.projects.host_call import HostError
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.references import expected
from gn_tutorial.projects.tiling_plan import PlanNote, TilingPlan
from gn_tutorial.timing.machine import DEFAULT_MACHINE

_SECONDS = 10.0
#: Copies take effect only when they are waited for. So a kernel that forgets to wait gets wrong numbers, as it may on a
#: device. Reciprocal and Rsqrt are only as accurate as their pages state.
_OPTIONS = TwinOptions(delayed_dma=True, approximate="documented")
#: From this many bytes of inputs on, a launch with one block loses points if the chip has several vector cores.
_ENOUGH_TO_SHARE = 256 << 10
_STRUCT, _FUNCTION, _KERNEL, _NUMBERS, _FINDINGS = (
    "tiling struct", "tiling function", "kernel", "accuracy", "no findings",
)  # fmt: skip
_RUN = (_KERNEL, _NUMBERS, _FINDINGS)
_UNSET = "field-never-set"
#: These notes cost nothing, because they are about the chip and not about the attempt.
_NO_FAULT = frozenset({"chip-not-configured", "other-chip"})
_SHARES = "Notebook 03, section 'Which groups belong to which core'"
_MEETING = "docs/exam.md, section 'Blocks that meet'"
_NOTES = "docs/projects.md, section 'What the tiling function gets, and the notes on it'"


def judge(task: Task, folder: Path, layout: str = "9.x", soc: str = "ascend910b") -> Marks:
    """Return the marks of the attempt in ``folder``. soc: its project's chip.

    Raises ArgumentError if there are no sources, or if one cannot be read.
    """
    return judge_sources(task, handed_in(folder), layout, soc)


def judge_sources(task: Task, attempt: HandedIn, layout: str = "9.x", soc: str = "ascend910b") -> Marks:
    """Return the marks of an attempt whose sources are already read. layout, soc: of its project."""
    definition = task.definition
    builds = [definition.build_dtypes(column) for column in definition.columns(soc).columns]
    kernels = list(kernel_texts(attempt.kernel(), beside=attempt.files, builds=builds))
    broken = forbidden(task.forbidden, kernels)
    if broken is not None:
        return all_lost(task, broken.what, broken.where)
    with judged_folder(task, attempt, layout, soc) as root:
        try:
            project = Project(root, soc=soc)
            seed = zlib.crc32(attempt.text())
            return _Judging(task, project, root, seed, [one.own.text for one in kernels]).marks()
        except CompileError as error:
            return _not_compiled(task, error, root)
        except ArgumentError as error:  # no operator, or no kernel of its name
            return all_lost(task, error.what, place(error.where, root))


@dataclass
class _Judging:
    """The judging of one attempt. root: the fresh folder. seed: draws the hidden calls.

    kernels: what the compiler reads of the kernel's files. endless: "" until a launch does not end, then the message on
    this launch. After it no launch is made. spaces: see Marks.
    """

    task: Task
    project: Project
    root: Path
    seed: int
    kernels: Sequence[str]
    endless: str = ""
    spaces: str = ""

    def marks(self) -> Marks:
        """Run every hidden call; if no points were lost, time the call of ``bound_call``. Return the marks.

        If the operator's definition was changed, no call is made and all points are lost. Raises CompileError for host
        files that do not compile, ArgumentError for a project that cannot be called.
        """
        changed = self._changed()
        if changed:
            return all_lost(self.task, changed)
        calls = draw(self.task, self.seed)
        self.ledger = Ledger(self.task, len(calls))
        for number, call in enumerate(calls):
            self._judge(number, call)
        losses = self.ledger.losses()
        if losses:
            what = "the time counts only if every result is right"
            slow = Loss(what, {SPEED: float(self.task.points[SPEED])}, read=self.task.reading(SPEED))
            return Marks(self.task.name, self.task.points, (*losses, slow), len(calls), spaces=self.spaces)
        share, slower = speed(self.task, self.project, bound_call(self.task, self.seed))
        return Marks(self.task.name, self.task.points, slower, len(calls), share, self.spaces)

    def _changed(self) -> str:
        """Return a message if the operator's definition differs from the given one; "" if it does not."""
        ours, theirs = self.task.definition, self.project.definition
        for role in ("inputs", "outputs"):
            mine = [(one.name, one.kind, one.dtypes) for one in getattr(ours, role)]
            if mine != [(one.name, one.kind, one.dtypes) for one in getattr(theirs, role)]:
                return f"the {role} of the definition are not those that were given"
        mine = [(one.name, one.type) for one in ours.attributes]
        if mine != [(one.name, one.type) for one in theirs.attributes]:
            return "the attributes of the definition are not those that were given"
        return ""

    def _judge(self, number: int, hidden: HiddenCall) -> None:
        call = self.project.call(**hidden.arrays, **hidden.attributes)
        golden = expected(self._reference, call)
        plan = self._plan(number, hidden, call, golden)
        if plan is None:
            return
        if self.endless:  # every other launch would take as long
            self._lose("timeout", _RUN, number, hidden, self.endless)
            return
        try:
            kernel = self.project.kernel(call, plan)
            kernel.build(True)
            self._check_spaces(kernel, number, hidden)
            own = _own_workspace(call, plan)
            result = self.project.launch(call, own, limits=Limits(seconds=_SECONDS), options=_OPTIONS)
        except CompileError as error:
            self._lose(
                "kernel compile", _RUN, number, hidden, f"the kernel does not compile: {_first(error)}", error.where
            )
        except KernelFault as error:
            self._found(number, hidden, next(iter(error.diagnostics), None), error)
        except KernelTimeout as error:
            self.endless = error.what
            self._lose("timeout", _RUN, number, hidden, error.what, error.where)
        except GntError as error:
            what = f"the kernel did not end well: {error.what}"
            self._lose(f"kernel {type(error).__name__}", _RUN, number, hidden, what, error.where)
        else:
            self._compare(number, hidden, result, golden)
            self._warned(number, hidden, result)

    def _check_spaces(self, kernel: Kernel, number: int, hidden: HiddenCall) -> None:
        """Add what a device's compiler refuses to the losses. Without clang nothing is lost, and the report says so."""
        check = kernel.check_spaces()
        self.spaces = str(check)
        for one in findings_of(check):
            self._lose(f"finding {one.id}", (_FINDINGS,), number, hidden, *_said(one))

    def _plan(self, number: int, hidden: HiddenCall, call: OpCall, golden: list[np.ndarray]) -> TilingPlan | None:
        """Return the tiling plan; None if it cannot be launched. Add the faults of tiling to the losses."""
        everything = (_STRUCT, _FUNCTION, *_RUN)
        given = [
            out(one.shape, dtype_name(call.column.outputs[index].dtype))
            for (index, _), one in zip(call.output_tensors, golden, strict=True)
        ]
        try:
            inferred = self.project.host.infer(call)
            plan = self.project.host.plan(call, given)
        except HostError as error:
            what = f"the tiling function fails: {error.what}"
            self._lose("tiling fails", everything, number, hidden, what, error.where)
            return None
        if [tuple(shape) for _, _, shape in inferred] != [one.shape for one in golden]:
            what = "InferShape, which was given, now returns another shape; leave it as it was"
            self._lose("shape", everything, number, hidden, what)
        if not plan.data or (plan.struct is not None and not plan.struct.fields):
            what = "the tiling struct has no field: the kernel cannot know how the work is divided"
            self._lose("no field", everything, number, hidden, what)
        for note in plan.notes:
            self._noted(number, hidden, note)
        lacks = list(unmet(plan, call.soc.library_workspace, self.kernels))
        for one in lacks:
            at_fault = _KERNEL if one.in_kernel else _FUNCTION
            parts = (at_fault, *_RUN) if one.stops else (at_fault, _FINDINGS)
            self._lose(one.rule, parts, number, hidden, f"{one.what} [{one.rule}]", read=_MEETING)
        nbytes = sum(one.nbytes for one in hidden.arrays.values())
        if plan.blocks == 1 and call.soc.vector_cores > 1 and nbytes >= _ENOUGH_TO_SHARE:
            what = f"one block for {nbytes:,} bytes, on a chip with {call.soc.vector_cores} vector cores"
            self._lose("one block", (_FUNCTION,), number, hidden, what, read=_SHARES)
        return None if any(map(_stops, plan.notes)) or any(one.stops for one in lacks) else plan

    def _noted(self, number: int, hidden: HiddenCall, note: PlanNote) -> None:
        if note.rule in _NO_FAULT:
            return
        parts = (_STRUCT,) if note.rule == _UNSET else (_FUNCTION,)
        parts += _RUN if _stops(note) else (_FINDINGS,)
        self._lose(f"note {note.rule}", parts, number, hidden, f"{note.what} [{note.rule}]", note.where, _NOTES)

    def _found(self, number: int, hidden: HiddenCall, first: Diagnostic | None, error: GntError) -> None:
        if first is None:
            self._lose("fault", _RUN, number, hidden, error.what)
            return
        self._lose(f"finding {first.id}", _RUN, number, hidden, *_said(first))

    def _warned(self, number: int, hidden: HiddenCall, result: Result) -> None:
        for one in result.diagnostics:
            self._lose(f"finding {one.id}", (_FINDINGS,), number, hidden, *_said(one))

    def _compare(self, number: int, hidden: HiddenCall, result: Result, golden: list[np.ndarray]) -> None:
        for row in result.compare(golden, self.task.tolerance).rows:
            holes = unwritten(result[row.name].reshape(-1))
            if holes.any():
                places = spots(row.name, holes)
                what = f"part of {row.name} was never written: {places}, {int(holes.sum())} of {holes.size}"
                self._lose("holes", (_KERNEL, _NUMBERS), number, hidden, what)
                return
            if row.wrong:
                what = f"{hidden.case.means}: {row.report()}" if hidden.case.means else row.report()
                group = f"numbers {hidden.case.what}" if hidden.case.means else "numbers"
                self._lose(group, (_NUMBERS,), number, hidden, what, read=hidden.case.read)
                return

    def _reference(self, *inputs: np.ndarray, **attributes: Any) -> list[np.ndarray]:
        names = [one.name for one in self.task.definition.inputs]
        made = self.task.golden(dict(zip(names, inputs, strict=True)), attributes)
        return [np.asarray(made[one.name], np.float64) for one in self.task.definition.outputs]

    def _lose(
        self,
        group: str,
        parts: tuple[str, ...],
        number: int,
        hidden: HiddenCall,
        what: str,
        where: str = "",
        read: str = "",
    ) -> None:
        self.ledger.lose(
            group,
            parts,
            number,
            what.replace(f"{self.root}/", ""),
            where=place(where, self.root),
            case=str(hidden),
            read=read or self.task.reading(parts[0]),
        )


def _own_workspace(call: OpCall, plan: TilingPlan) -> TilingPlan:
    """Return the plan without the library's part of the workspace. A plan with fewer bytes than that is unchanged."""
    own = plan.workspace - call.soc.library_workspace
    return dataclasses.replace(plan, workspace=own) if own >= 0 else plan


def _stops(note: PlanNote) -> bool:
    """Whether the note prevents a launch: it is an error, or reports an unset field, whose value may be anything."""
    return note.severity == "error" or note.rule == _UNSET


def _said(one: Diagnostic) -> tuple[str, str, str]:
    """Return a checker's finding as three texts: what it is, where, and what to read."""
    return f"{one.what} [{one.id}]", f"{one.file}:{one.line}" if one.file else "", f"gnt explain {one.id}"


def _first(error: CompileError) -> str:
    """Return the first message of the compiler, with the hint if there is one."""
    first = error.errors[0].message if error.errors else error.what
    return f"{first} ({error.hint})" if error.hint else first


def _not_compiled(task: Task, error: CompileError, root: Path) -> Marks:
    return all_lost(
        task, f"the host files do not compile: {_first(error)}", place(error.where, root), task.reading(_FUNCTION)
    )


def place(where: str, root: Path) -> str:
    """Return ``where`` without the path of the judged copy, ``root``, in either form in which messages write it."""
    for shown in (str(root), short(root)):
        where = where.replace(f"{shown}/", "").replace(shown, ".")
    return where


#: The fewest points lost for speed that a report shows.
_LEAST = 0.05


def speed(task: Task, project: Project, hidden: HiddenCall) -> tuple[float | None, tuple[Loss, ...]]:
    """Return the share of the bound that the call reaches, and the loss of points for speed, empty if there is none.

    If the call does not run, the share is None and all points for speed are lost.
    """
    most, read = float(task.points[SPEED]), task.reading(SPEED)
    # A chip without measured times is timed as the default machine, and the work is divided for that machine's cores.
    machine = project.soc.machine or DEFAULT_MACHINE
    timed = project if project.soc.machine else project.on(machine)
    try:
        result = run_traced(timed, isolated=True, **hidden.arrays, **hidden.attributes)
        profile = profile_of(result, machine=machine, inputs=dict(hidden.arrays))
    except GntError as error:
        return None, (Loss(f"no time: {error.what}", {SPEED: most}, error.where, str(hidden), 1, read),)
    share = 1.0 / profile.of_bound if profile.of_bound else 0.0
    lost = most * (1.0 - min(1.0, share / task.bound.full_share))
    if lost < _LEAST:
        return share, ()
    what = (
        f"modelled time {profile.microseconds:.1f} us, {share:.0%} of what the bound allows "
        f"({task.bound.full_share:.0%} earns all points); the launch is limited by {profile.binding.name}"
    )
    return share, (Loss(what, {SPEED: lost}, case=str(hidden), cases=1, read=read),)
