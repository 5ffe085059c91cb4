"""Judges a drawn case: runs the reference, the project's host functions and its kernel, and compares the outputs."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from gn_tutorial.abi.options import Limits
from gn_tutorial.compare.tolerance import Tolerance, within_any
from gn_tutorial.diagnostics.findings import Findings
from gn_tutorial.errors import ArgumentError, CompileError, GntError, KernelError, KernelFault, KernelTimeout
from gn_tutorial.operators.arguments import Out, as_dtype, out
from gn_tutorial.operators.result import Result
from gn_tutorial.projects.call import OpCall
from gn_tutorial.projects.dtype_columns import dtype_name
from gn_tutorial.projects.fuzz_cases import Case
from gn_tutorial.projects.host_call import HostError, HostRefusal, HostTimeout
from gn_tutorial.projects.outputs import chosen_outputs
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.references import expected
from gn_tutorial.projects.tiling_plan import TilingPlan

#: The kinds of failures, in the order of a report.
KINDS = (
    "compile",
    "tiling crash",
    "tiling refused",
    "tiling plan",
    "launch refused",
    "finding",
    "crash",
    "timeout",
    "wrong shape",
    "wrong dtype",
    "wrong numbers",
)
#: The limit of wall time for one launch. Drawn cases take milliseconds.
_SECONDS = 20.0


@dataclass(frozen=True)
class Outcome:
    """The verdict on a case. status: passed, failed, refused by both, refused by the reference.

    kind: one of KINDS for a failure. group: the kind, with a detail that separates this failure from others of its
    kind, such as a finding's id. what: the failure in words.
    """

    status: str
    kind: str = ""
    group: str = ""
    what: str = ""

    @property
    def failed(self) -> bool:
        """Whether the project is at fault."""
        return self.status == "failed"


@dataclass
class Judge:
    """Judges cases of one project by a reference. Builds each kernel once.

    compile_seconds: the time spent on compiling.
    """

    project: Project
    function: Callable[..., Any]
    tolerance: Tolerance
    compile_seconds: float = 0.0
    _builds: dict[str, CompileError | None] = field(default_factory=dict)

    def call(self, case: Case) -> OpCall:
        """Return the case as a call of the operator. Raises ArgumentError as ``Project.call``."""
        definition = self.project.definition
        names = [one.name for one in definition.inputs]
        call = self.project.call(**dict(zip(names, case.arrays(), strict=True)), **dict(case.attributes))
        call, _ = chosen_outputs(self._with_lists(call), dict.fromkeys(case.left_out))
        return call

    def _with_lists(self, call: OpCall) -> OpCall:
        """Return the call; its dynamic output has as many tensors as the reference returns for it, as Split needs.

        The call stays unchanged unless exactly one output is dynamic. It also stays unchanged if an input is dynamic,
        because then that input's number of tensors decides.
        """
        definition = call.definition
        lists = [index for index, one in enumerate(definition.outputs) if one.kind == "dynamic"]
        if len(lists) != 1 or any(one.kind == "dynamic" for one in definition.inputs):
            return call
        many = len(self.reference(call) or call.output_tensors) - len(call.output_tensors) + 1
        counts = [max(many, 0) if index == lists[0] else count for index, count in enumerate(call.counts)]
        return dataclasses.replace(call, counts=tuple(counts))

    def reference(self, call: OpCall) -> list[np.ndarray] | None:
        """Return the reference's outputs; None if it refuses the call."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return expected(self.function, call)
            except ArgumentError:
                return None

    def accepted(self, case: Case) -> bool:
        """Whether the reference accepts the case."""
        return self.reference(self.call(case)) is not None

    def outputs(self, golden: list[np.ndarray], call: OpCall) -> list[Out] | None:
        """Return outputs with the reference's shapes if the project has no InferShape, else None."""
        if "infer_shape" in self.project.definition.functions:
            return None
        dtypes = [as_dtype(dtype_name(call.column.outputs[index].dtype)) for index, _ in call.output_tensors]
        return [out(one.shape, dtype) for one, dtype in zip(golden, dtypes, strict=True)]

    def __call__(self, case: Case) -> Outcome:
        """Return the verdict on the case. Raises ArgumentError for a project or a reference that can run no case."""
        call = self.call(case)
        golden = self.reference(call)
        if golden is None:
            return Outcome(f"refused by {'both' if self._refused(call) else 'the reference'}")
        try:
            plan = self.project.host.plan(call, self.outputs(golden, call), look_for_unset=False)
        except HostError as error:
            return _host_failure(error)
        errors = [note for note in plan.notes if note.severity == "error"]
        if errors:
            return _failure("tiling plan", errors[0].what, errors[0].rule)
        failed = self._build(call, plan)
        if failed is not None:
            return _failure("compile", _first_line(failed), ", ".join(dict.fromkeys(dict(_dtypes(call)).values())))
        try:
            result = self.project.launch(call, plan, limits=Limits(seconds=_SECONDS))
        except GntError as error:
            return _launch_failure(error)
        return self._compared(case, call, result, golden)

    def _refused(self, call: OpCall) -> bool:
        try:
            if "infer_shape" in self.project.definition.functions:
                self.project.host.plan(call, None, look_for_unset=False)
        except HostError:
            return True
        return False

    def _build(self, call: OpCall, plan: TilingPlan) -> CompileError | None:
        kernel = self.project.kernel(call, plan)
        key = repr((_dtypes(call), plan.template, plan.struct_name))
        if key not in self._builds:
            started = time.monotonic()
            try:
                kernel.build(True)
                self._builds[key] = None
            except CompileError as error:
                self._builds[key] = error
            self.compile_seconds += time.monotonic() - started
        return self._builds[key]

    def _compared(self, case: Case, call: OpCall, result: Result, golden: list[np.ndarray]) -> Outcome:
        comparison = result.compare(golden, self.tolerance)
        for row, wanted in zip(comparison.rows, golden, strict=True):
            ours = result.outputs[row.name]
            if row.note:
                return _failure("wrong shape", f"{row.name} has shape {ours.shape}, {row.note}")
            if (ours.dtype.kind == "b") != (wanted.dtype.kind == "b"):
                return _failure("wrong dtype", f"{row.name} is {ours.dtype}, and the reference's {wanted.dtype}")
        if comparison.ok:
            return Outcome("passed")
        granted = [] if case.plain else self._granted(call)
        for index, (row, wanted) in enumerate(zip(comparison.rows, golden, strict=True)):
            ours = result.outputs[row.name]
            seen = row.evidence
            right = within_any(ours, wanted, [one[index] for one in granted], seen.rtol, seen.atol)
            if not right.all():
                return _wrong(row.name, ours, wanted, right)
        return Outcome("passed")

    def _granted(self, call: OpCall) -> list[list[np.ndarray]]:
        """Return the reference's outputs for inputs of slightly larger absolute values, and of slightly smaller ones.

        Floating-point inputs change by one rounding step, others do not change. Inputs that the reference refuses give
        no outputs. Where large numbers cancel, or numbers are at the end of a range, these outputs are as right as the
        reference's own. Contest judges draw ordinary numbers, for which only the tolerance counts.
        """
        found = []
        for sign in (1.0, -1.0):
            arrays = tuple(group and tuple(_moved(one, sign) for one in group) for group in call.arrays)
            golden = self.reference(dataclasses.replace(call, arrays=arrays))
            found += [golden] if golden is not None else []
        return found


def _moved(array: np.ndarray, sign: float) -> np.ndarray:
    if array.dtype.kind in "iub":
        return array
    return array.astype(np.float64) * (1.0 + sign * float(ml_dtypes.finfo(array.dtype).eps))


def _wrong(name: str, ours: np.ndarray, wanted: np.ndarray, right: np.ndarray) -> Outcome:
    places = np.argwhere(~right)
    at = tuple(map(int, places[0]))
    odd = ~np.isfinite(wanted.astype(np.float64)) | ~np.isfinite(ours.astype(np.float64))
    what = f"{name}{list(at)} is {float(ours[at]):.9g}, the reference has {float(wanted[at]):.9g}"
    what += f"; {len(places)} of {ours.size} are wrong"
    return _failure("wrong numbers", what, "NaN or infinity" if odd[~right].all() else "")


def _host_failure(error: HostError) -> Outcome:
    kind = {HostRefusal: "tiling refused", HostTimeout: "timeout"}.get(type(error), "tiling crash")
    return _failure(kind, error.what + (f" ({error.where})" if error.where and kind != "tiling refused" else ""))


def _launch_failure(error: GntError) -> Outcome:
    if isinstance(error, KernelFault):
        found = Findings(error.diagnostics)
        first = next(iter(found), None)
        place = f" ({first.file}:{first.line})" if first else ""
        return _failure("finding", (first.what if first else error.what) + place, first.id if first else "")
    if isinstance(error, KernelTimeout):
        return _failure("timeout", error.what)
    return _failure("crash" if isinstance(error, KernelError) else "launch refused", _first_line(error))


def _failure(kind: str, what: str, part: str = "") -> Outcome:
    return Outcome("failed", kind, f"{kind}: {part}" if part else kind, what)


def _first_line(error: GntError) -> str:
    return f"{error.what} ({error.where})" if error.where else error.what


def _dtypes(call: OpCall) -> list[tuple[str, str]]:
    return [(name, dtype_name(label)) for name, label in call.column.dtypes().items()]
