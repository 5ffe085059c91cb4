"""The files and output of ``gnt project fuzz``: the saved state, arrays for the printed commands, the report."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.cli.project_arguments import as_command, attribute_text
from gn_tutorial.cli.terminal import emit_json, print_table
from gn_tutorial.course.atomic_write import write_atomically
from gn_tutorial.course.progress import default_progress
from gn_tutorial.errors import ArgumentError
from gn_tutorial.projects.dtype_columns import dtype_name
from gn_tutorial.projects.fuzz_cases import Case
from gn_tutorial.projects.fuzz_report import FuzzFailure, FuzzReport, FuzzState, case_to_json
from gn_tutorial.projects.fuzz_values import ORDINARY
from gn_tutorial.projects.fuzz_verdict import Judge
from gn_tutorial.projects.project import Project

_PATIENCE = 2.0


class FuzzFolder:
    """The folder with the state and arrays of fuzzing one project, on one chip, against one reference.

    It lies in the user's data folder.
    """

    def __init__(self, project: Project, reference: str) -> None:
        who = f"{project.layout.named}\0{project.name}\0{project.soc.name}\0{reference}"
        digest = hashlib.sha256(who.encode()).hexdigest()[:8]
        self.path = default_progress().path.parent / "fuzz" / f"{project.name}-{digest}"
        self._state = self.path / "state.json"

    def read(self, seed: int | None, *, restart: bool) -> FuzzState:
        """Return the state of the last run, or a new state if none is saved, ``restart`` is set, or the seed differs.

        seed: None for the seed of the last run. Raises ArgumentError if the state cannot be read.
        """
        new = FuzzState(seed or 0)
        if restart:
            return new
        try:
            found = FuzzState.from_json(json.loads(self._state.read_bytes()))
        except FileNotFoundError:
            return new
        except ValueError as error:
            raise ArgumentError(
                f"the state of an earlier run cannot be read: {error}",
                where=str(self._state),
                hint="--restart begins anew",
            ) from None
        except OSError as error:
            raise _unusable(self._state, error) from error
        return found if seed in (None, found.seed) else new

    def write(self, state: FuzzState) -> None:
        """Save the state. Raises ArgumentError if the folder cannot be used."""
        self._put(self._state, (json.dumps(state.to_json(), indent=2) + "\n").encode())

    def keep(self, name: str, array: np.ndarray) -> Path:
        """Save an array that a seed cannot reproduce, and return the path of its .npy file. Raises as ``write``.

        A bfloat16 array is saved as its bits, in uint16.
        """
        content = io.BytesIO()
        np.save(content, array.view(np.uint16) if array.dtype.name == "bfloat16" else array)
        path = self.path / f"{name}-{hashlib.sha256(content.getvalue()).hexdigest()[:8]}.npy"
        self._put(path, content.getvalue())
        return path

    def _put(self, path: Path, content: bytes) -> None:
        try:
            write_atomically(path, content)
        except OSError as error:
            raise _unusable(path, error) from error


def run_line(project: Project, case: Case, folder: FuzzFolder, judge: Judge, rest: list[tuple[str, str]]) -> str:
    """Return the ``gnt project run`` command that repeats a case, and save the arrays that the command reads.

    rest: the options that are the same for all cases. Raises ArgumentError if an array cannot be saved.
    """
    words: list[tuple[str, str]] = []
    names = [one.name for one in project.definition.inputs]
    for name, plan, array in zip(names, case.inputs, case.arrays(), strict=True):
        if plan is None or array is None:
            words.append(("--in", f"{name}=none"))
            continue
        for one in array if plan.more is not None else [array]:
            prefix = "bfloat16" if plan.dtype == "bfloat16" else ""
            made_again = f"{plan.dtype}[{','.join(map(str, one.shape))}]"
            text = made_again if plan.values == ORDINARY else f"{prefix}@{folder.keep(name, one)}"
            words.append(("--in", f"{name}={text}"))
    words += [("--attr", f"{name}={attribute_text(value)}") for name, value in case.attributes]
    words += _output_words(project, case, judge)
    if case.seed and any(one is not None and one.values == ORDINARY for one in case.inputs):
        words.append(("--seed", str(case.seed)))
    return as_command(str(project.layout.named), [*words, *rest])


def _output_words(project: Project, case: Case, judge: Judge) -> list[tuple[str, str]]:
    """Return the ``--out`` options: those for the outputs left out, and, if shapes cannot be inferred, all others.

    Shapes cannot be inferred without InferShape, or if an output is a list of tensors and no input is. The options then
    give the shapes of the reference's outputs; there are none if the reference refuses the case.
    """
    definition = project.definition
    left_out = [("--out", f"{name}=none") for name in case.left_out]
    lists = any(one.kind == "dynamic" for one in definition.outputs)
    known = not lists or any(one.kind == "dynamic" for one in definition.inputs)
    if known and "infer_shape" in definition.functions:
        return left_out
    call = judge.call(case)
    golden = judge.reference(call) or []
    words = []
    for (index, _), array in zip(call.output_tensors, golden, strict=False):
        dtype = dtype_name(call.column.outputs[index].dtype)
        words.append(("--out", f"{definition.outputs[index].name}={dtype}[{','.join(map(str, array.shape))}]"))
    return words + left_out


def show(report: FuzzReport, line: Callable[[FuzzFailure], str], folder: FuzzFolder, *, as_json: bool) -> None:
    """Print a summary of the run, and each failure with the command that repeats it. line: returns this command."""
    if as_json:
        emit_json({**_facts(report), "failures": [_failure(one, line(one)) for one in report.failures]})
        return
    print_table((), report.summary(), title=f"{report.project} beside {report.reference}, seed {report.seed}")
    for one in report.failures:
        print(f"{one.group}, {one.times} times: {one.what}\n  {line(one)}\n")
    print("\n".join(filter(None, (report.verdict(), report.hint()))))
    print(f"Run it again to continue, --restart to start again ({folder.path}).")


def _facts(report: FuzzReport) -> dict[str, Any]:
    return {
        "project": report.project,
        "reference": report.reference,
        "ok": report.ok,
        "seed": report.seed,
        "examples": report.examples,
        "total": report.total,
        "shrinking": report.shrinking,
        "seconds": report.seconds,
        "compile_seconds": report.compile_seconds,
        "stopped": report.stopped,
        "counts": {
            name: {value: {"tried": tried, "failed": failed} for value, (tried, failed) in values.items()}
            for name, values in report.counts.items()
        },
        "refusals": {
            status: {"cases": number, "example": case_to_json(case)}
            for status, (number, case) in report.refusals.items()
        },
        "mended": [_failure(one, "") for one in report.mended],
        "left_out": report.left_out,
    }


def _failure(one: FuzzFailure, line: str) -> dict[str, Any]:
    facts = {"kind": one.kind, "group": one.group, "what": one.what, "times": one.times}
    return {**facts, "case": case_to_json(one.case), **({"command": line} if line else {})}


class FuzzProgress:
    """Prints progress on standard error, beginning after two seconds.

    On a terminal it overwrites one line, at most every 0.2 s. Elsewhere it prints a new line once a minute.
    """

    def __init__(self) -> None:
        self._next = time.monotonic() + _PATIENCE
        self._terminal = sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        """Show the text. Do nothing if the start, or the last text that was shown, was too short a time ago."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (0.2 if self._terminal else 60.0)
        if self._terminal:
            width = os.get_terminal_size(sys.stderr.fileno()).columns - 1
            print(f"\r\x1b[K{f'gnt: {text}'[:width]}", end="", file=sys.stderr, flush=True)
        else:
            print(f"gnt: {text}", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Erase the progress line if standard error is a terminal."""
        if self._terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _unusable(path: Path, error: OSError) -> ArgumentError:
    return ArgumentError(
        f"the saved state of fuzzing cannot be used: {error.strerror}",
        where=str(path),
        hint="set GNT_DATA_DIR to a folder that you can write to",
    )
