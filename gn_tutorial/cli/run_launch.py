"""Launches a kernel for ``gnt run``, and prints the result as a table or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.abi.options import Optimise, TwinOptions
from gn_tutorial.cli.run_arguments import Call
from gn_tutorial.cli.terminal import emit_json, print_findings, print_table, working
from gn_tutorial.compare.comparison import HEADERS, Comparison
from gn_tutorial.compare.provenance.origin import HEADERS as ORIGIN_HEADERS
from gn_tutorial.compare.provenance.origin import Origin
from gn_tutorial.compare.tolerance import Tolerance
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import InOut, Out, Scratch
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.operators.result import Result

_SHOWN_VALUES = 4


@dataclass(frozen=True)
class Mode:
    """How to run a registered kernel or a learner's file.

    blocks: the number of blocks; None for all cores of the default chip. observed: with the twin's checks. isolated: in
    a separate process. optimise: as for ``kernel``.
    """

    blocks: int | None
    seed: int
    observed: bool
    isolated: bool
    optimise: Optimise | None = None
    options: TwinOptions = field(default_factory=TwinOptions)


@dataclass(frozen=True)
class How:
    """How to compile a learner's file: template arguments, dtypes of parameters, macros, files included before it."""

    template: str = ""
    dtypes: Mapping[str, str] | None = None
    defines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()


@dataclass(frozen=True)
class UserReference:
    """A user's function that computes what a learner's kernel should write (``references``).

    name: as the user gave it. tolerance: of the comparison.
    """

    name: str
    function: Callable[..., Any]
    tolerance: Tolerance

    def expected(self, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Return the outputs of a kernel with these values, by name; in a tuple they stand as in ``values``."""
        from gn_tutorial.projects.references import expected_by_name

        inputs, outputs = {}, {}
        for name, value in values.items():
            array = value.array if isinstance(value, InOut) else value
            if isinstance(value, (Out, InOut)):
                shape, dtype = (value.shape, value.dtype) if isinstance(value, Out) else (array.shape, array.dtype)
                outputs[name] = shape, dtype
            if not isinstance(value, (Out, Scratch)):
                inputs[name] = array
        return expected_by_name(self.function, inputs, outputs)


def user_reference(name: str, rtol: float | None, atol: float | None) -> UserReference:
    """Return the reference ``file.py:function``. Raises ArgumentError if there is none."""
    from gn_tutorial.projects.references import load_reference, tolerance  # 50 ms, for the few runs that have one

    return UserReference(name, load_reference(name), tolerance(rtol, atol))


@dataclass(frozen=True)
class RunOutcome:
    """The result of a run.

    comparison: the comparison with the reference; None if there is no reference. facts: the call's arguments, by label.
    reference: what the outputs were compared with, in words.
    """

    result: Result
    comparison: Comparison | None
    facts: dict[str, Any]
    reference: str = "its NumPy reference"

    @property
    def ok(self) -> bool:
        """Whether the kernel agrees with its reference; True if there is none."""
        return self.comparison is None or self.comparison.ok


def run_registered(call: Call, mode: Mode) -> RunOutcome:
    """Run a registered kernel on seeded input and compare its outputs with the NumPy reference."""
    arrays = call.arrays(mode.seed)
    found = Kernel.registered(call.op, call.spec, optimise=mode.optimise)
    _build(found, mode, arrays.values())
    with working(f"running {found.name}"):
        result = found(
            *arrays.values(),
            blocks=mode.blocks,
            observed=mode.observed,
            isolated=mode.isolated,
            options=mode.options,
            **call.attributes,
        )
        comparison = result.compare(random_inputs.expected(call.op, arrays, call.attributes), call.spec.tolerance)
    facts = {"shape": call.shape, "dtype": call.dtype, **call.attributes, "seed": mode.seed}
    return RunOutcome(result, comparison, facts)


def run_file(
    target: str,
    values: Mapping[str, Any],
    entry: str | None,
    mode: Mode,
    how: How | None = None,
    reference: UserReference | None = None,
) -> RunOutcome:
    """Run a learner's file with these values, by parameter name, and compare its outputs if there is a reference."""
    how = how or How()
    expected = reference.expected(values) if reference else None  # before the kernel compiles: it may raise
    found = kernel(
        Path(target),
        template=how.template,
        dtypes=how.dtypes,
        defines=how.defines,
        includes=how.includes,
        optimise=mode.optimise,
    )
    _build(found, mode, values.values())
    with working(f"running {found.name}"):
        result = found.run(
            entry=entry,
            blocks=mode.blocks,
            observed=mode.observed,
            isolated=mode.isolated,
            options=mode.options,
            **values,
        )
    facts = {"file": found.path, "seed": mode.seed}
    if reference is None or expected is None:
        return RunOutcome(result, None, facts)
    comparison = result.compare(expected, reference.tolerance)
    return RunOutcome(result, comparison, {**facts, "reference": reference.name}, reference.name)


def show(outcome: RunOutcome, *, as_json: bool) -> None:
    """Print a run: the errors against the reference, or without one the first values of each output.

    Then print facts, counts, times, findings and the text that the kernel printed. as_json: print data instead, without
    values of the outputs.
    """
    result, comparison = outcome.result, outcome.comparison
    if as_json:
        emit_json(_facts(outcome))
        return
    if comparison is not None:
        print_table(HEADERS, comparison.cells(), title=f"{result.kernel} against {outcome.reference}")
        print("\n".join([comparison.title(), *comparison.hints(), ""]))
        if comparison.origin:
            show_origin(comparison.origin)
    else:
        rows = [(name, array.dtype, array.shape, _first_values(array)) for name, array in result.outputs.items()]
        print_table(("output", "dtype", "shape", "first values"), rows, title=result.kernel)
    facts = [(key, str(value)) for key, value in outcome.facts.items()]
    facts.append(("blocks", str(result.blocks)))
    if result.observed and result.blocks:
        tally = result.tally
        counts = (
            f"{tally.vector:,} vector, {tally.scalar:,} scalar, {tally.mte2:,} copies in, {tally.mte3:,} copies out"
        )
        facts.append(("instructions", counts))
        facts.append(("bytes", f"{tally.bytes_in:,} in, {tally.bytes_out:,} out"))
    facts.append(("time on this CPU", f"{result.seconds * 1e3:.3f} ms"))
    if result.compile_seconds:
        facts.append(("compile time", f"{result.compile_seconds:.2f} s"))
    print_table((), facts)
    if result.spaces:
        print(result.spaces)
    print_findings(result.diagnostics)
    if result.printed:
        print(f"printed by the kernel:\n{result.printed}", end="" if result.printed.endswith("\n") else "\n")


def show_origin(origin: Origin) -> None:
    """Print the lines that an output's element comes from, as a table with notes."""
    print_table(ORIGIN_HEADERS, origin.rows(), title=origin.title())
    print("\n".join([*origin.notes(), ""]))


def _bytes(value: Any) -> int:
    array = getattr(value, "array", value)
    return array.nbytes if isinstance(array, np.ndarray) else 0


def _build(found: Kernel, mode: Mode, values: Iterable[Any]) -> None:
    with working(f"compiling {found.name}"):
        found.build(mode.observed, sum(_bytes(value) for value in values))


def _facts(outcome: RunOutcome) -> dict[str, Any]:
    result, comparison = outcome.result, outcome.comparison
    outputs: dict[str, dict[str, Any]] = {
        name: {"dtype": array.dtype.name, "shape": array.shape} for name, array in result.outputs.items()
    }
    for row in comparison.rows if comparison else ():
        outputs[row.name] |= {
            "max_abs": row.max_abs,
            "max_rel": row.max_rel,
            "used": row.used,
            "wrong": row.wrong,
            "ok": row.ok,
        }
    return {
        "kernel": result.kernel,
        **outcome.facts,
        "blocks": result.blocks,
        "observed": result.observed,
        "outputs": outputs,
        "ok": outcome.ok if comparison else None,
        "tally": result.tally,
        "seconds": result.seconds,
        "compile_seconds": result.compile_seconds,
        "printed": result.printed,
        "diagnostics": result.diagnostics.to_list(),
        "address_spaces": result.spaces and str(result.spaces),
    }


def _first_values(array: np.ndarray) -> str:
    values = ", ".join(f"{float(value):.6g}" for value in array.ravel()[:_SHOWN_VALUES])
    return f"{values}, ..." if array.size > _SHOWN_VALUES else values
