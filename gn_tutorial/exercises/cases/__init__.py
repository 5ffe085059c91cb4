"""What each exercise is checked with: one module a notebook, one entry here an exercise."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from gn_tutorial.exercises.cases import (
    backward_bits,
    backward_kernel,
    double_buffer,
    gelu,
    gradient_tests,
    gradients,
    linear,
    machine,
    modelled,
    numpy_group_norm,
    precision,
    registering,
    scalar,
    start,
    tiles,
    tuning,
    vectorise,
)
from gn_tutorial.exercises.verdict import Verdict


class Checker(Protocol):
    """Checks a learner's file on data that follow from ``seed``: the first thing wrong, or the number of cases."""

    def check(self, path: Path, seed: int) -> Verdict | int:
        """Check one attempt."""
        ...


#: ``checker`` in info.toml -> the checker.
CHECKERS: Mapping[str, Checker] = {
    "copy-tail": start.COPY_TAIL,
    "group-norm": numpy_group_norm.GROUP_NORM,
    "chunk-statistics": numpy_group_norm.CHUNK_STATISTICS,
    "limits": numpy_group_norm.LIMITS,
    "ub-budget": machine.UB_BUDGET,
    "ub-tiling": machine.UB_TILING,
    "shared-buffer": machine.SHARED_BUFFER,
    "add-times": modelled.ADD_TIMES,
    "core-offsets": scalar.CORE_OFFSETS,
    "row-mean": scalar.ROW_MEAN,
    "scalar-accesses": scalar.SCALAR_ACCESSES,
    "scalar-times": modelled.SCALAR_TIMES,
    "rows-with-gaps": tiles.ROWS_WITH_GAPS,
    "group-tiles": tiles.GROUP_TILES,
    "tile-counts": tiles.TILE_COUNTS,
    "row-squares": double_buffer.ROW_SQUARES,
    "flags": double_buffer.FLAGS,
    "buffers": double_buffer.BUFFERS,
    "sigmoid": vectorise.SIGMOID,
    "reduce-once": vectorise.REDUCE_ONCE,
    "fewer": vectorise.FEWER,
    "rms-of-halves": precision.RMS_OF_HALVES,
    "far-from-zero": precision.FAR_FROM_ZERO,
    "half-statistics": precision.HALF_STATISTICS,
    "diagnosis": tuning.DIAGNOSIS,
    "tile-choice": tuning.TILE_CHOICE,
    "gradient-x": gradients.GRADIENT_X,
    "gradient-gamma-beta": gradients.GRADIENT_GAMMA_BETA,
    "gradient-test": gradient_tests.GRADIENT_TEST,
    "which-mistake": gradient_tests.WHICH_MISTAKE,
    "two-stages": backward_kernel.TWO_STAGES,
    "shared-sums": backward_kernel.SHARED_SUMS,
    "bits": backward_bits.BITS,
    "register-rms-norm": registering.REGISTER_RMS_NORM,
    "mend-layer-norm": registering.MEND_LAYER_NORM,
    "gelu-gradient": gelu.GELU_GRADIENT,
    "linear-gradient": linear.LINEAR_GRADIENT,
}
