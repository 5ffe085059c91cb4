"""The patterns by which a wrong output is recognised, in the order in which they are tried.

A pattern is a function that gets the evidence and returns sentences, or nothing if it does not recognise the output.
A reader gets only the sentences of the first pattern that returns some, because the later ones would explain the same
elements less well. Each module is one idea and stays a file of its own, although only this table imports it: a pattern
is written, tested and dropped by itself.
"""

from __future__ import annotations

from enum import Enum, auto

from gn_tutorial.compare.evidence import OutputEvidence
from gn_tutorial.compare.patterns import (
    affine,
    bit_pattern,
    block_swap,
    operand_swap,
    periodic,
    precision_loss,
    row_statistic,
    running_sum_restart,
    shifted,
    special_values,
    unread_input,
    unwritten,
)


class Reader(Enum):
    """Who reads the sentences."""

    LAUNCH = auto()  # reads a comparison: gnt run, gnt project run, notebooks
    REPORT = auto()  # reads a report of the exam or the capstone: a remark follows the first wrong element
    KERNEL_EXERCISE = auto()
    PYTHON_EXERCISE = auto()


PATTERNS = {
    Reader.LAUNCH: (
        block_swap.blocks,
        bit_pattern.value_and_index,
        bit_pattern.index_as_float,
        special_values.zeros_or_nan,
        bit_pattern.unsigned_shift,
        affine.factor,
        affine.constant_offset,
        operand_swap.operand_swap,
        row_statistic.row_statistic,
        running_sum_restart.running_sum_restart,
        shifted.shifted,
        periodic.tiles,
    ),
    Reader.REPORT: (special_values.overflow_or_constant, precision_loss.few_digits),
    Reader.KERNEL_EXERCISE: (unwritten.unwritten_part, special_values.same_everywhere),
    Reader.PYTHON_EXERCISE: (special_values.same_everywhere,),
}
#: If a launch's output has more elements, only the first pattern is tried. The others make several arrays of its size.
_MOST = 1 << 22


def recognised(seen: OutputEvidence, reader: Reader) -> tuple[str, ...]:
    """Return the sentences of the first pattern that recognises the output; for a launch, add any on unread inputs."""
    launch = reader is Reader.LAUNCH
    asked = PATTERNS[reader][: 1 if launch and seen.output.size > _MOST else None]
    alike = seen.output.shape == seen.reference.shape
    said = next((said for one in asked if alike and (said := one(seen))), ())
    return (*said, *unread_input.unread_input(seen)) if launch else said
