"""Answers a test program's aclnn calls: the first call tiles, the second one launches the project's kernel.

docs/host-api.md lists the statuses. A refused call also adds a note, because the program gets only a number.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import ArgumentError, GntError, KernelError
from gn_tutorial.projects.aclnn import AclnnArgument, AclnnFunction, functions
from gn_tutorial.projects.call import OpCall
from gn_tutorial.projects.host_call import HostError
from gn_tutorial.projects.outputs import chosen_outputs
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.test_runner.call_values import (
    Mark,
    SentTensor,
    converted,
    read_argument,
    sent_tensors,
    wanted_output,
)
from gn_tutorial.projects.test_runner.named_pipes import CallPipes, PipeClosed
from gn_tutorial.projects.test_runner.refusals import (
    INVALID,
    NO_KERNEL,
    TILING_FAILED,
    RefusedCall,
    call_note,
    check_argument,
    check_size,
    workspace_note,
)
from gn_tutorial.projects.tiling_plan import PlanNote, TilingPlan

#: ACL_ERROR_RT_VECTOR_CORE_EXCEPTION. On a device, synchronising the stream returns it; here the second call does.
LAUNCH_FAILED = 507035
#: The byte that fills an allocation before anything is written to it (gn_twin/host/acl_runtime.h).
_FRESH = 0xFF


@dataclass(frozen=True)
class OwnTestLaunch:
    """One launch that a test made. inputs, outputs: name, dtype, shape. seconds: the time of the kernel's blocks."""

    op_type: str
    inputs: tuple[tuple[str, str, tuple[int, ...]], ...]
    outputs: tuple[tuple[str, str, tuple[int, ...]], ...]
    attributes: tuple[tuple[str, Any], ...]
    blocks: int
    tiling_key: int
    workspace: int
    seconds: float
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass
class _Ready:
    """The result of a first call. The second call names it by a number."""

    project: Project
    function: AclnnFunction
    call: OpCall
    plan: TilingPlan
    # The tensors with their arguments, in the order in which the tensors' bytes will arrive.
    tensors: list[tuple[AclnnArgument, SentTensor]] = field(default_factory=list)


class CallServer:
    """Answers the aclnn calls of one program. Use it as a context manager around the program's run.

    folder: the folder for the named pipes. projects: operator type -> project. seconds_left: returns the time limit of
    a launch. most_bytes: the limit for all tensors of a launch together; 0: no limit. told: called with a line of text
    before each tiling and each launch.
    """

    def __init__(
        self,
        folder: Path,
        projects: Mapping[str, Project],
        *,
        seconds_left: Callable[[], float],
        observed: bool = True,
        options: TwinOptions | None = None,
        most_bytes: int = 0,
        told: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self.launches: list[OwnTestLaunch] = []
        self.notes: list[PlanNote] = []
        self.errors: list[GntError] = []
        self._functions = {
            one.name: (project, one) for project in projects.values() for one in functions(project.definition)
        }
        self._seconds_left, self._observed, self._options = seconds_left, observed, options
        self._most_bytes, self._told = most_bytes, told
        self._ready: list[_Ready] = []
        self._stop = threading.Event()
        self._pipes = CallPipes(folder, self._stop)

    def __enter__(self) -> CallServer:
        self._pipes.open()
        self._thread = threading.Thread(target=self._serve, name="aclnn calls", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._pipes.close()

    # --- the pipes ---------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            while True:
                words = self._pipes.line().split(" ")
                if words[0] == "first":
                    self._answer_first(words[1])
                elif words[0] == "second":
                    self._answer_second(words[1:])
        except PipeClosed:
            return
        except Exception as error:  # a thread's exception would be lost, and the program would wait forever
            self.errors.append(error if isinstance(error, GntError) else GntError(f"an aclnn call failed: {error!r}"))

    # --- the first call ----------------------------------------------------------------------------------------------

    def _answer_first(self, name: str) -> None:
        project, function = self._functions[name]
        values = [read_argument(self._pipes.line) for _ in function.arguments]
        assert self._pipes.line() == "end", f"{name} sent another number of arguments"
        self._told(f"{name}: tiling")
        try:
            ready = self._tile(project, function, values)
        except RefusedCall as refused:
            self.notes.append(refused.note)
            self._pipes.send(b"%d 0 0\n" % refused.status)
        except GntError as error:
            self.errors.append(error)
            self._pipes.send(b"%d 0 0\n" % (TILING_FAILED if isinstance(error, HostError) else NO_KERNEL))
        else:
            self._ready.append(ready)
            self._pipes.send(b"0 %d %d\n" % (ready.plan.workspace, len(self._ready)))

    def _tile(self, project: Project, function: AclnnFunction, values: Sequence[Any]) -> _Ready:
        tensors: list[tuple[AclnnArgument, SentTensor]] = []
        for argument, value in zip(function.arguments, values, strict=True):
            check_argument(function, argument, value)
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, SentTensor):
                    tensors.append((argument, one))
        check_size(function, tensors, self._most_bytes)
        by_name = {one.parameter: value for one, value in zip(function.arguments, values, strict=True) if one.parameter}
        definition = project.definition
        named: dict[str, Any] = {}
        for declared in definition.inputs:
            value = by_name.get(declared.name, Mark.NONE)
            if value is not Mark.NONE:
                named[declared.name] = converted(declared, value, by_name)
        for attribute in definition.attributes:
            value = by_name.get(attribute.name, Mark.NONE)
            if value is not Mark.NONE:
                named[attribute.name] = value.tolist() if isinstance(value, np.ndarray) else value
        labels = {
            one.name: sent[0].dtype
            for one in (*definition.inputs, *definition.outputs)
            if (sent := sent_tensors(by_name.get(one.name)))
        }
        try:
            call = project.call(**named)
            call = dataclasses.replace(call, column=definition.columns(project.soc.config).column_of(labels))
            call, given = chosen_outputs(call, {one.name: wanted_output(one, by_name) for one in definition.outputs})
        except ArgumentError as error:
            raise RefusedCall(
                INVALID, call_note("aclnn-argument", f"{function.name}: {error.what}", error.hint)
            ) from None
        plan = project.host.plan(call, given)
        for note in plan.notes:
            if note.severity == "error":
                raise RefusedCall(TILING_FAILED, note)
        self.notes += [note for note in plan.notes if note not in self.notes]
        return _Ready(project, function, call, plan, tensors)

    # --- the second call ---------------------------------------------------------------------------------------------

    def _answer_second(self, words: Sequence[str]) -> None:
        name, number, kind, asked, room = words[0], int(words[1]), words[2], int(words[3]), int(words[4])
        raws = []
        while (line := self._pipes.line()) != "end":
            raws.append(self._pipes.read(int(line.split(" ")[1])))
        if number == 0:
            what = f"{name} is called with an executor that no first call made, or that was used before"
            self.notes.append(
                call_note("aclnn-executor", what, "call the GetWorkspaceSize function once for each launch")
            )
            self._pipes.send(b"%d 0\n" % INVALID)
            return
        ready = self._ready[number - 1]
        if note := workspace_note(name, ready.plan.workspace, kind, asked, room):
            self.notes.append(note)
        self._told(f"{name}: {ready.plan.blocks} blocks")
        try:
            written = self._launch(ready, raws)
        except GntError as error:
            self.errors.append(error)
            self._pipes.send(b"%d 0\n" % (LAUNCH_FAILED if isinstance(error, KernelError) else NO_KERNEL))
            return
        self._pipes.send(b"0 %d\n" % len(written))
        for index, data in written:
            self._pipes.send(b"%d %d\n" % (index, len(data)))
            self._pipes.send(data)

    def _launch(self, ready: _Ready, raws: Sequence[bytearray]) -> list[tuple[int, bytearray]]:
        definition, project = ready.project.definition, ready.project
        named = dict(zip([one.name for one in definition.inputs], ready.call.arrays, strict=True))
        held: dict[str, np.ndarray] = {}
        places: dict[str, int] = {}
        groups: dict[str, list[np.ndarray]] = {}
        names = _tensor_names(ready)
        for index, ((argument, tensor), raw) in enumerate(zip(ready.tensors, raws, strict=True)):
            as_stored = not tensor.contiguous and not self._gathered(ready, argument)
            view = tensor.view(raw, as_stored=as_stored)
            if argument.role == "output" or argument.parameter in definition.written:
                places[names[index]] = index
            if argument.role == "output":
                # The kernel sees the bytes that the program wrote to an output. An output without them is undefined.
                if raw.strip(bytes([_FRESH])):
                    held[names[index]] = np.ascontiguousarray(view)
            else:
                groups.setdefault(argument.parameter, []).append(np.ascontiguousarray(view))
        named |= {name: tuple(arrays) for name, arrays in groups.items() if named[name] is not None}
        call = dataclasses.replace(ready.call, arrays=tuple(named[one.name] for one in definition.inputs))
        limits = Limits(seconds=max(1.0, self._seconds_left()))
        result = project.launch(
            call, ready.plan, held=held, observed=self._observed, options=self._options, limits=limits
        )
        written = []
        for name, array in result.outputs.items():
            if name in places:
                index = places[name]
                argument, tensor = ready.tensors[index]
                as_stored = not tensor.contiguous and not self._gathered(ready, argument)
                tensor.view(raws[index], as_stored=as_stored)[...] = array.reshape(tensor.shape)
                written.append((index, raws[index]))
        self.launches.append(_record(ready, call, result.seconds, result.diagnostics))
        return written

    def _gathered(self, ready: _Ready, argument: AclnnArgument) -> bool:
        """Whether a view with strides is copied to contiguous memory for the kernel (AutoContiguous).

        If not, add a note that the kernel ignores the strides.
        """
        definition = ready.project.definition
        declared = (definition.outputs if argument.role == "output" else definition.inputs)[argument.index]
        if not declared.auto_contiguous:
            what = (
                f"{ready.function.name}: '{argument.name}' is a view with strides, and the kernel reads it without them"
            )
            note = call_note("aclnn-view", what, f"add .AutoContiguous() to '{declared.name}' in the definition")
            if note not in self.notes:
                self.notes.append(note)
        return declared.auto_contiguous


def _tensor_names(ready: _Ready) -> list[str]:
    """Return the name of each tensor in the launch: its argument's, or ``y[0]``, ``y[1]`` for a list."""
    definition, seen, names = ready.project.definition, Counter[str](), []
    for argument, _ in ready.tensors:
        declared = (definition.outputs if argument.role == "output" else definition.inputs)[argument.index]
        name = argument.parameter
        names.append(f"{name}[{seen[name]}]" if declared.kind == "dynamic" else name)
        seen[name] += 1
    return names


def _record(ready: _Ready, call: OpCall, seconds: float, diagnostics: Sequence[Diagnostic]) -> OwnTestLaunch:
    definition, plan = ready.project.definition, ready.plan
    inputs = tuple(
        (declared.name, one.dtype.name, one.shape)
        for declared, group in zip(definition.inputs, call.arrays, strict=True)
        for one in group or ()
    )
    return OwnTestLaunch(
        op_type=definition.type,
        inputs=inputs,
        outputs=plan.outputs,
        attributes=tuple((name, value) for name, _, value in call.attributes),
        blocks=plan.blocks,
        tiling_key=plan.key,
        workspace=plan.workspace,
        seconds=seconds,
        diagnostics=tuple(diagnostics),
    )
