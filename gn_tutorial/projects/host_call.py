"""Calls a project's host functions in a separate process: registration, shape inference and tiling.

``gn_twin/op_host/host_call.h`` defines request and answer. The functions run in the launcher's sandbox, so a crash, an
endless loop or a written file becomes an error. The error names the line in the project if it is known.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.dtypes import DTYPES
from gn_tutorial.abi.options import Limits
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.errors import ArgumentError, KernelError, KernelTimeout
from gn_tutorial.projects.chips import Soc
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

_ANSWER_BYTES = 8 << 20
_SECONDS = 10.0
_CRASH = re.compile(
    r"\n?@gnt-host-crash (\d+) (\d+) (\S*) ([^\n]*)\n(\d+) [^\n]*\n(.*?)@gnt-host-crash-end\n?", re.DOTALL
)
_FRAME = re.compile(r"^(.*)\(\+0x([0-9a-f]+)\)", re.MULTILINE)
#: Host code gets an input's values only if they have at most this many bytes. It reads shapes or axes, which are few.
_MOST_VALUE_BYTES = 1 << 20


class HostError(KernelError):
    """The error for a project's host function that crashed, did not end, or failed."""


class HostRefusal(HostError):
    """The error for a call that InferShape or tiling refused: the function returned a failure."""


class HostTimeout(HostError):
    """The error for a host function that did not end."""


@dataclass(frozen=True)
class TensorInfo:
    """One input or output of a call. declared: its index in the definition. data: values that host code may read.

    shape: None for an output whose shape and dtype are to be inferred. format_number: the graph engine's number.
    """

    declared: int
    dtype: str
    shape: tuple[int, ...] | None
    format_number: int = 2
    data: bytes | None = None


@dataclass(frozen=True)
class HostRequest:
    """One call of an operator. attributes: kind and value in the order of the declaration.

    declared_outputs: None means as many as there are outputs. fill: the byte that fills the tiling struct before
    tiling. tile: False infers shapes only. room: the most bytes of the tiling struct; 0 lets the definition and the
    host files decide.
    """

    op_type: str
    soc: Soc
    inputs: Sequence[TensorInfo]
    outputs: Sequence[TensorInfo]
    attributes: Sequence[tuple[str, Any]] = ()
    declared_inputs: int = 0
    declared_outputs: int | None = None
    fill: int = 0
    tile: bool = True
    deterministic: bool = False
    room: int = 0

    def text(self) -> str:
        """Return the request as text, one statement a line. Raises ArgumentError for a dtype that the twin lacks."""
        soc = self.soc
        outputs = len(self.outputs) if self.declared_outputs is None else self.declared_outputs
        chip = (
            soc.name, soc.family, soc.vector_cores, soc.cube_cores, soc.vector_only_cores, int(soc.separate),
            soc.ub_bytes, soc.l1_bytes, soc.l0a_bytes, soc.l0b_bytes, soc.l0c_bytes, soc.l2_bytes,
            soc.library_workspace, soc.arch,
        )  # fmt: skip
        lines = [
            f"op {self.op_type}",
            f"name {self.op_type}",
            f"fill {self.fill}",
            f"room {self.room}",
            f"deterministic {int(self.deterministic)}",
            f"declared {self.declared_inputs} {outputs}",
            f"chip {' '.join(map(str, chip))}",
            *(f"in {_tensor(one)}" for one in self.inputs),
            *(f"out {_tensor(one)}" for one in self.outputs),
            *(f"attr {_attribute(kind, value)}" for kind, value in self.attributes),
        ]
        return "\n".join([*lines, *([] if self.tile else ["infer_only"]), ""])


@dataclass(frozen=True)
class HostAnswer:
    """The result of the host functions. facts: the JSON document of the answer. printed: what the functions printed."""

    facts: Mapping[str, Any]
    printed: str = ""
    logs: tuple[tuple[str, str], ...] = field(default=())


def describe(library: Path, where: Sequence[Path]) -> str:
    """Return the JSON document of everything that the library registers. Raises HostError."""
    return json.dumps(_ask(library, b"describe", where).facts)


def call_host(library: Path, request: HostRequest, where: Sequence[Path]) -> HostAnswer:
    """Return the answer to one request. where: the project's host files.

    Raises HostError, which names a line of these files if it is known; ArgumentError as ``HostRequest.text`` does.
    """
    return _ask(library, request.text().encode(), where)


def _ask(library: Path, text: bytes, where: Sequence[Path]) -> HostAnswer:
    answer = np.zeros(_ANSWER_BYTES, np.uint8)
    args = [
        LaunchArg("request", ArgKind.TENSOR, Role.IN, text),
        LaunchArg("answer", ArgKind.TENSOR, Role.INOUT, answer),
    ]
    try:
        result = launch(library, LaunchRequest(entry="project_host", args=args, limits=Limits(seconds=_SECONDS)))
    except KernelError as error:
        raise _host_error(error, library, where) from None
    raw = result.arrays["answer"].tobytes()
    facts = json.loads(raw[: raw.index(0)])
    if "exception" in facts:
        raise HostError(
            f"a C++ exception left the host functions: {facts['exception']}",
            printed=result.printed,
            where=str(where[0]) if where else "",
            hint="return ge::GRAPH_FAILED instead; the framework catches none",
        )
    return HostAnswer(facts, result.printed)


def _host_error(error: KernelError, library: Path, where: Sequence[Path]) -> HostError:
    """Return the launch's error, reworded for host code and with the line of that code if it is known."""
    found = _CRASH.search(error.printed)
    place, last = "", ""
    if found:
        last = f"{found[4]}:{found[2]}, in {found[3]} (the last call into the context)" if found[4] else ""
        place = _line(library, [int(frame[2], 16) for frame in _FRAME.finditer(found[6])], where) or last
    printed = _CRASH.sub("", error.printed).strip("\n")
    what = error.what.replace("the kernel", "a host function").replace("'project_host' ran", "the host functions ran")
    what = what.replace("and was stopped", "and were stopped")
    hint = error.hint
    if "null pointer" in what and found and found[5] != "0":
        hint = (
            f"GetData() in line {found[5]} returned null: tiling has the values of an input only where the definition "
            "asks for them, .ValueDepend(REQUIRED) behind its Input(...); shapes and types are there without it"
        )
    elif "null pointer" in what:
        hint = "a shape, a descriptor or an attribute that is not there is a null pointer: check it before it is used"
    elif isinstance(error, KernelTimeout):
        hint = "look for a loop that never ends at this line: a step of 0, an unsigned number below 0"
    elif "SIGFPE" in what:
        hint = "check the divisor: a shape with 0 elements, a number of cores or tiles that became 0"
    detail = f"  printed:\n{printed}" if printed else ""
    kind = HostTimeout if isinstance(error, KernelTimeout) else HostError
    return kind(what, printed=printed, where=place, hint=hint, detail=detail)


def _line(library: Path, offsets: Iterable[int], where: Sequence[Path]) -> str:
    """Return the innermost line of the project's own files on the stack; empty if there is none or no tool finds it."""
    tool = shutil.which("addr2line") or shutil.which("llvm-addr2line")
    # A return address points behind its call, so 1 is subtracted. The innermost address is no return address.
    addresses = [hex(offset - (index > 0)) for index, offset in enumerate(offsets)]
    if tool is None or not addresses:
        return ""
    try:
        said = subprocess.run(
            [tool, "-e", str(library), *addresses], capture_output=True, text=True, timeout=30, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    folders = tuple(f"{path.parent}{'/'}" for path in where)
    for one in said.splitlines():
        file, _, line = one.split(" (")[0].rpartition(":")
        if file and line.isdigit() and str(Path(file).resolve()).startswith(folders):
            return f"{Path(file).resolve()}:{line}"
    return ""


def _tensor(one: TensorInfo) -> str:
    if one.dtype and one.dtype not in DTYPES:
        raise ArgumentError(
            f"{one.dtype} is a type that the twin's kernels do not have",
            hint=f"call the operator with one of {', '.join(DTYPES)}",
        )
    number = DTYPES[one.dtype].number if one.dtype else 28
    given = one.shape is not None
    axes = one.shape or ()
    words = [one.declared, number, one.format_number, int(given), len(axes), *axes]
    if one.data is not None and len(one.data) <= _MOST_VALUE_BYTES:
        words += ["data", f"x{one.data.hex()}"]
    return " ".join(map(str, words))


def _attribute(kind: str, value: Any) -> str:
    if kind == "string":
        return f"string 1 x{str(value).encode().hex()}"
    if kind == "list_list_int":
        return " ".join(["list_list_int", str(len(value)), *(f"{len(row)} {' '.join(map(str, row))}" for row in value)])
    many = list(value) if kind.startswith("list") else [value]
    word = {"float": lambda x: float(x).hex(), "bool": lambda x: str(int(bool(x)))}.get(
        kind.removeprefix("list_"), lambda x: str(int(x))
    )
    return " ".join([kind, str(len(many)), *map(word, many)])
