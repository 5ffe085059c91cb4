"""The launches of a grade: the operator's grid, and of a capstone the rows on which typical mistakes show."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from gn_tutorial.course.capstone.starter import OPERATORS, capstone_folder, start_folder
from gn_tutorial.errors import ArgumentError, RegistryError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.operators.registry import find_operator
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.profiler.bench.grid import BenchCase, load_grid
from gn_tutorial.toml_file import decode

#: What a kernel of a capstone has to take.
DTYPES = ("float32", "float16")
#: Where its share of the bound counts. In half the vector unit sets the pace, and the bound counts no instruction
#: (docs/benchmark.md, section 'How near the bound a kernel can come').
TIMED = "float32"


@dataclass(frozen=True)
class GradedCase:
    """One shape and dtype. timed: its share of the bound counts.

    mean, spread: of the first input, where it is not as ``random_inputs`` draws it. means, read: what this case shows,
    for a message, and where the course has it.
    """

    bench: BenchCase
    timed: bool = True
    mean: float = 0.0
    spread: float | None = None
    means: str = ""
    read: str = ""

    def arrays(self, op: OpSpec, seed: int) -> dict[str, np.ndarray]:
        """The inputs, by name; the same ones for the same seed."""
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
    """What is graded: the operator as the grade knows it, the learner's kernel, the launches, names not to be called.

    small: the cases that come first; the grid waits until all of them are right.
    """

    op: OpSpec
    spec: KernelSpec
    grid: tuple[GradedCase, ...]
    small: tuple[GradedCase, ...] = ()
    forbidden: tuple[str, ...] = ()

    @property
    def cases(self) -> tuple[GradedCase, ...]:
        """All of them, in order."""
        return (*self.small, *self.grid)


def graded(folder: str) -> Graded:
    """Of an operator's folder, or of a registered operator: its last kernel, and what it is held to.

    A capstone is held to the course's own arguments, reference, tolerance and shapes, whatever the folder's files say;
    another operator to its own. Raises RegistryError for an ``op.toml`` that cannot be read, ArgumentError for one that
    has other arguments than its capstone.
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
    spec = replace(spec, tolerance=ours.kernels[0].tolerance)
    held = replace(ours, name=op.name, file=op.file, tiling=op.tiling, kernels=(spec,), reference=_of_course(ours))
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
