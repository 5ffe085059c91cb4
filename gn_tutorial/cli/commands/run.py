"""``gnt run``: from words on a command line to a launch, and from its result to a table or JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gn_tutorial.cli.terminal import emit_json, print_findings, print_table, working
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype, inout, out, workspace
from gn_tutorial.operators.comparison import HEADERS, Comparison
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.operators.registry import find_kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.operators.spec import KernelSpec, OpSpec

_SHOWN_VALUES = 4


@dataclass(frozen=True)
class Mode:
    """How to run, the same for a registered kernel and a learner's file."""

    blocks: int | None
    seed: int
    observed: bool
    isolated: bool
    optimise: bool = True


@dataclass(frozen=True)
class Call:
    """A call of a registered operator: what the words after ``gnt run group_norm/scalar`` mean."""

    op: OpSpec
    spec: KernelSpec
    shape: tuple[int, ...]
    dtype: str
    attributes: dict[str, Any]

    def arrays(self, seed: int) -> dict[str, np.ndarray]:
        """The seeded input, by name."""
        return random_inputs.inputs(self.op, self.shape, seed=seed, dtype=self.dtype, attributes=self.attributes)


@dataclass(frozen=True)
class Outcome:
    """A result with, for a registered kernel, its comparison. ``facts`` say what was asked for."""

    result: Result
    comparison: Comparison | None
    facts: dict[str, Any]

    @property
    def ok(self) -> bool:
        """False only if the kernel differs from its reference."""
        return self.comparison is None or self.comparison.ok


def is_file(target: str) -> bool:
    """Whether the target is a learner's file rather than a registered name."""
    return bool(Path(target).suffix)


def refuse(target: str, given: Mapping[str, Any]) -> None:
    """Refuse options that do not belong to this kind of target; ignoring them would look as if they worked."""
    for option, value in given.items():
        if value not in (None, "", []):
            kind = (
                "a file: give its arguments with --arg and --out"
                if is_file(target)
                else "registered: use --shape, --set"
            )
            raise ArgumentError(f"{option} does not apply, because {target} is {kind}")


def parse_call(target: str, shape: str, groups: int | None, settings: Sequence[str], dtype: str) -> Call:
    """Shape, dtype and attributes of a call; what is not said comes from the operator's [example].

    Raises ArgumentError quoting the word that cannot be read.
    """
    op, spec = find_kernel(target)
    attributes = {a.name: op.example[a.name] for a in op.attributes if a.name in op.example}
    if groups is not None:
        attributes["num_groups"] = groups
    for setting in settings:
        name, value = _pair("--set", setting)
        attributes[name] = _number("--set", setting, value)
    lengths = parse_shape(shape) if shape else tuple(op.example["shape"])
    return Call(op, spec, lengths, dtype or spec.dtypes[0], attributes)


def parse_shape(text: str) -> tuple[int, ...]:
    """``2,8,16,16`` (or ``2x8x16x16``) -> (2, 8, 16, 16). Raises ArgumentError."""
    parts = re.split(r"[,x]", text.strip("()[] "))
    try:
        return tuple(int(part) for part in parts if part.strip())
    except ValueError:
        raise ArgumentError(f"'{text}' is no shape", hint="for example 2,8,16,16") from None


def parse_values(
    args: Sequence[str], outs: Sequence[str], inouts: Sequence[str], workspaces: Sequence[str], seed: int
) -> dict[str, Any]:
    """The values of a learner's kernel by parameter name; ``x=float32[4096]`` is random, ``x=@file.npy`` is read.

    Raises ArgumentError quoting the word that cannot be read.
    """
    rng = np.random.default_rng(seed)
    values: dict[str, Any] = {}

    def put(option: str, text: str, make: Any) -> None:
        name, value = _pair(option, text)
        if name in values:
            raise ArgumentError(f"'{name}' is given twice")
        values[name] = make(option, text, value)

    for text in args:
        put("--arg", text, lambda option, whole, value: _input(option, whole, value, rng))
    for text in outs:
        put("--out", text, lambda option, whole, value: out(*_array_type(option, whole, value)))
    for text in inouts:
        put("--inout", text, lambda option, whole, value: inout(_array(option, whole, value, rng)))
    for text in workspaces:
        put("--workspace", text, lambda option, whole, value: workspace(_number(option, whole, value)))
    return values


def run_registered(call: Call, mode: Mode) -> Outcome:
    """Run on seeded input and compare with the NumPy reference."""
    arrays = call.arrays(mode.seed)
    found = Kernel.registered(call.op, call.spec, optimise=mode.optimise)
    _build(found, mode)
    with working(f"running {found.name}"):
        result = found(
            *arrays.values(), blocks=mode.blocks, observed=mode.observed, isolated=mode.isolated, **call.attributes
        )
        comparison = result.compare(random_inputs.expected(call.op, arrays, call.attributes), call.spec.tolerance)
    facts = {"shape": call.shape, "dtype": call.dtype, **call.attributes, "seed": mode.seed}
    return Outcome(result, comparison, facts)


@dataclass(frozen=True)
class How:
    """What a file needs to be compiled: its template's arguments, its operator's dtypes, other macros."""

    template: str = ""
    dtypes: Mapping[str, str] | None = None
    defines: tuple[str, ...] = ()


def parse_types(texts: Sequence[str]) -> dict[str, str]:
    """``x=float16`` of each ``--type``. Raises ArgumentError quoting the word that cannot be read."""
    return dict(_pair("--type", text) for text in texts)


def run_file(target: str, values: Mapping[str, Any], entry: str | None, mode: Mode, how: How | None = None) -> Outcome:
    """Run a learner's file with these values."""
    how = how or How()
    found = kernel(Path(target), template=how.template, dtypes=how.dtypes, defines=how.defines, optimise=mode.optimise)
    _build(found, mode)
    with working(f"running {found.name}"):
        result = found.run(
            entry=entry, blocks=mode.blocks or 1, observed=mode.observed, isolated=mode.isolated, **values
        )
    return Outcome(result, None, {"file": found.path, "seed": mode.seed})


def show(outcome: Outcome, *, as_json: bool) -> None:
    """Print what came out: errors against the reference, or the first values of each output; then counts and times."""
    result, comparison = outcome.result, outcome.comparison
    if as_json:
        emit_json(_facts(outcome))
        return
    if comparison is not None:
        print_table(HEADERS, comparison.cells(), title=f"{result.kernel} against its NumPy reference")
        print(f"{comparison.title()}\n")
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
    print_findings(result.diagnostics)
    if result.printed:
        print(f"printed by the kernel:\n{result.printed}", end="" if result.printed.endswith("\n") else "\n")


def _build(found: Kernel, mode: Mode) -> None:
    with working(f"compiling {found.name}"):
        found.build(mode.observed)


def _facts(outcome: Outcome) -> dict[str, Any]:
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
    }


def _first_values(array: np.ndarray) -> str:
    values = ", ".join(f"{float(value):.6g}" for value in array.ravel()[:_SHOWN_VALUES])
    return f"{values}, ..." if array.size > _SHOWN_VALUES else values


def _pair(option: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise ArgumentError(f"{option} {text}: a name, '=' and a value are needed")
    return name.strip(), value.strip()


def _number(option: str, whole: str, text: str) -> int | float:
    for convert in (lambda: int(text, 0), lambda: float(text)):
        try:
            return convert()
        except ValueError:
            continue
    raise ArgumentError(f"{option} {whole}: '{text}' is no number")


def _array_type(option: str, whole: str, text: str) -> tuple[tuple[int, ...], np.dtype]:
    match = re.fullmatch(r"(\w+)\[([\d,x ]*)\]", text)
    if not match:
        raise ArgumentError(
            f"{option} {whole}: '{text}' is no array", hint="for example float32[2,8,16]; quote it in zsh"
        )
    return parse_shape(match.group(2)), as_dtype(match.group(1))


def _array(option: str, whole: str, text: str, rng: np.random.Generator) -> np.ndarray:
    if not text.startswith("@"):
        shape, dtype = _array_type(option, whole, text)
        return random_inputs.random_array(rng, shape, dtype)
    try:
        return np.load(text[1:], allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ArgumentError(f"{option} {whole}: cannot read the array: {error}") from None


def _input(option: str, whole: str, text: str, rng: np.random.Generator) -> Any:
    is_array = text.startswith("@") or "[" in text
    return _array(option, whole, text, rng) if is_array else _number(option, whole, text)
