"""Makes the page's starts: the texts that a learner can open, each with the launches that the page offers for it.

A start is a kernel of the course, a program of the diagnostics pages, or a puzzle. The page has no NumPy, so arrays,
references and tilings are computed here.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.abi.structs import ArgKind, GntOptions, Role
from gn_tutorial.abi.trace import Tracing
from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.course.playground import programs
from gn_tutorial.course.playground.puzzle import of_start
from gn_tutorial.course.puzzles.bank import load as puzzles
from gn_tutorial.course.puzzles.check import ATOL, Data
from gn_tutorial.course.puzzles.frame import framed
from gn_tutorial.diagnostics.catalogue import harmless_forms
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import call_plan, random_inputs
from gn_tutorial.operators.arguments import launch_args
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.registry import all_kernels, load_registry
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.runtime.launch_types import POISONED, WRITTEN, LaunchArg, LaunchRequest, poison_word
from gn_tutorial.runtime.trace_buffer import TraceBuffer
from gn_tutorial.timing.machine import default_cores

#: The size of a trace: 262,144 slots of 64 bytes. The page says so if it was too small.
TRACE = Tracing(bytes=16 << 20)
#: Rank of the first input -> a second shape to offer, with which the last tile is not full.
_ODD = {1: [999], 2: [5, 190], 4: [1, 8, 7, 9]}


def kernel_starts(root: Path) -> Iterator[dict[str, Any]]:
    """Yield a start for each registered kernel, in the order of ``gnt list``. root: the repository."""
    for op, spec in all_kernels(load_registry()):
        yield {
            "id": spec.id,
            "title": f"{op.title}: {spec.title}",
            "group": "Kernels of the course",
            "path": spec.file.relative_to(root).as_posix(),
            "text": spec.file.read_text(encoding="utf-8"),
            "cases": [case for dtype in spec.dtypes for case in _cases(op, spec, dtype)],
        }


def _cases(op: OpSpec, spec: KernelSpec, dtype: str) -> Iterator[dict[str, Any]]:
    names = {one.name for one in op.attributes}
    attributes = {key: value for key, value in op.example.items() if key in names}
    lengths = {key: value for key, value in op.example.items() if key not in names and key != "shape"}
    for shape in (op.example["shape"], _ODD.get(len(op.example["shape"]))):
        if shape is None:
            continue
        try:
            arrays = random_inputs.inputs(op, shape, seed=7, dtype=dtype, attributes=attributes, lengths=lengths)
            launches = [
                request_of(op, spec, arrays, attributes, blocks=n, tracing=TRACE) for n in (1, 4, default_cores())
            ]
        except ArgumentError:  # a size that this kernel refuses
            continue
        expected = random_inputs.expected(op, arrays, attributes)
        dtypes = {arg.name: arg.dtype.name for arg in launches[0].args}
        sizes = ", ".join(
            f"{name} {list(array.shape)}" for name, array in arrays.items() if array.shape == tuple(shape)
        )
        yield {
            "label": f"{sizes}, {dtype}",
            "arrays": {name: encoded(array) for name, array in arrays.items()},
            "expected": {
                name: _expected(value, dtypes[name], spec.tolerance.of(dtypes[name]))
                for name, value in expected.items()
                if value.size
            },
            "launches": [_launch(one, arrays) for one in _different(launches)],
        }


def _different(launches: list[LaunchRequest]) -> list[LaunchRequest]:
    return list({one.blocks: one for one in launches}.values())


def _launch(request: LaunchRequest, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return the job of a launch without the bytes of ``arrays``, which all launches of a case share."""
    made = job(request)
    for arg in made["args"]:
        if arg["name"] in arrays and arg["data"] is not None:
            arg["data"] = ""
    return made


def _expected(value: np.ndarray, dtype: str, tolerance: Tolerance) -> dict[str, Any]:
    return {
        "shape": list(value.shape),
        "dtype": dtype,
        "values": encoded(value.astype(np.float64)),
        "rtol": tolerance.rtol,
        "atol": tolerance.atol,
        "of_largest": tolerance.of_largest,
    }


def puzzle_starts() -> Iterator[dict[str, Any]]:
    """Yield a start for each puzzle of the notebooks: the whole kernel without the learner's lines."""
    for chosen in puzzles().values():
        data = Data.of(chosen, np.random.default_rng(7))
        frame = framed(chosen.frame, data.inputs, data.want, chosen.before, chosen.stub(), chosen.after)
        args = [LaunchArg(name, ArgKind.TENSOR, Role.IN, array) for name, array in data.inputs.items()]
        outputs = {name: np.ascontiguousarray(array) for name, array in data.want.items()}  # may be a transposed view
        args += [LaunchArg(name, ArgKind.TENSOR, Role.OUT, array) for name, array in outputs.items()]
        options = TwinOptions(**chosen.options)
        request = LaunchRequest(
            entry="puzzle",
            args=args,
            blocks=chosen.blocks,
            options=options.with_errors(harmless_forms()),
            isolated=False,
            tracing=TRACE,
        )
        within = Tolerance(rtol=chosen.rtol, atol=ATOL, reason="the puzzle's")
        expected = {name: _expected(one, one.dtype.name, within) for name, one in data.want.items()}
        sizes = ", ".join(f"{arg.name} {list(arg.data.shape)}" for arg in args)
        lines, (first, last) = frame.text.splitlines(keepends=True), frame.own
        yield {
            "id": f"puzzle/{chosen.id}",
            "title": f"{chosen.notebook} {chosen.title}",
            "group": "Puzzles of the notebooks",
            "path": f"puzzles/{chosen.id}.cpp",
            "text": frame.text,
            "puzzle": of_start(chosen.wrong, "".join(lines[: first - 1]), "".join(lines[last:])),
            "cases": [{"label": sizes, "arrays": {}, "expected": expected, "launches": [job(request)]}],
        }


def program_starts(root: Path) -> Iterator[dict[str, Any]]:
    """Yield a start for each right and each wrong program of tests/programs, with one case."""
    for name, path in programs.programs(root / "tests" / "programs").items():
        check, _, file = name.partition("/")
        text = path.read_text(encoding="utf-8")
        found = programs.finding_of(text)
        launch = replace(programs.request(name, text), tracing=TRACE)
        yield {
            "id": name,
            "title": f"{file.rpartition('_')[0].replace('_', ' ')}, {'wrong' if found else 'right'}",
            "group": f"Findings: {check}",
            "path": f"programs/{check}/{path.name}",
            "text": programs.without_answer(text),
            "finding": found,
            "cases": [{"label": "x, y [1024], float32", "arrays": {}, "expected": {}, "launches": [job(launch)]}],
        }


def request_of(
    op: OpSpec,
    spec: KernelSpec,
    arrays: Mapping[str, np.ndarray],
    attributes: Mapping[str, Any],
    *,
    blocks: int | None = None,
    tracing: Tracing | None = None,
) -> LaunchRequest:
    """Return a request to launch a registered kernel in this process. Raises ArgumentError as ``Kernel`` calls do."""
    plan = call_plan.plan(op, spec, (), {**arrays, **attributes}, cores=blocks)
    entry = Kernel.registered(op, spec).entry()
    args = launch_args(entry.params, plan.values)
    return LaunchRequest(entry=entry.name, args=args, blocks=plan.blocks, isolated=False, tracing=tracing)


def job(request: LaunchRequest) -> dict[str, Any]:
    """Return one launch as data for src/runner.mjs: the fields of GntJob and of its arguments (gn_twin/base/abi.h).

    Numbers that may be larger than 2**53 are text, because JavaScript numbers are exact only up to there.
    """
    room = TraceBuffer(request.tracing or Tracing(), request.args, request.blocks)
    options = request.options.to_abi()
    trace = {"bytes": room.bytes, "chosen": list(room.chosen)} if request.tracing else None
    return {
        "entry": request.entry,
        "blocks": request.blocks,
        "tiling_key": str(int(request.tiling_key)),
        "options": [getattr(options, name) for name, _ in GntOptions._fields_],
        "severities": request.options.severities().decode() if request.options.severities() else "",
        "args": [_argument(arg, room.addresses.get(arg.same_as or arg.name, 0)) for arg in request.args],
        "trace": trace,
    }


def _argument(arg: LaunchArg, address: int) -> dict[str, Any]:
    given = arg.role not in POISONED and not arg.absent and not arg.same_as
    return {
        "name": arg.name,
        "kind": int(arg.kind),
        "role": int(arg.role),
        "bytes": arg.nbytes,
        "data": encoded(arg.data) if given else None,
        "absent": arg.absent,
        "same_as": arg.same_as,
        "address": str(address),
        "poison": str(poison_word(arg.dtype)),
        "element_bytes": arg.dtype.itemsize,
        "written": arg.role in WRITTEN,
        "dtype": arg.dtype.name,
    }


def encoded(data: np.ndarray | bytes) -> str:
    """Return the bytes of an array in base64."""
    return base64.b64encode(data.tobytes() if isinstance(data, np.ndarray) else data).decode()


def decoded(text: str, like: np.ndarray) -> np.ndarray:
    """Return the array with these bytes and the shape and dtype of ``like``."""
    return np.frombuffer(base64.b64decode(text), like.dtype).reshape(like.shape)
