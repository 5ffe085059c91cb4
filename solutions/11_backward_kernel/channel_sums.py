"""What the checks of 11.1 to 11.3 share: samples without symmetry, sums by core, the blocks that copy an argument."""

from __future__ import annotations

import numpy as np

from gn_tutorial.abi.trace import Access, Space
from gn_tutorial.operators.result import Result

TILE = 64  # kTile of the two kernels
FLOAT = 4  # bytes


def matrix(rng: np.random.Generator, samples: int, channels: int) -> np.ndarray:
    """Return samples without symmetry: channels differ in size and offset, and no two samples are alike."""
    scale = np.linspace(0.5, 2.0, channels) * rng.uniform(0.8, 1.2, (samples, 1))
    return (rng.standard_normal((samples, channels)) * scale + np.linspace(1.5, 0.25, channels)).astype(np.float32)


def case_label(samples: int, channels: int, cores: int) -> str:
    """The case in words."""
    return f"{samples} sample{'s' * (samples > 1)} of {channels} channels on {cores} core{'s' * (cores > 1)}"


def core_sums(values: np.ndarray, cores: int) -> np.ndarray:
    """Return the sum of each core's samples: (cores, channels)."""
    return np.stack([values[core::cores].sum(axis=0) for core in range(cores)])


def copying_blocks(result: Result, argument: str, access: Access) -> set[int]:
    """Return the blocks whose copies read or wrote an argument; all are recorded, because there are at most eight."""
    recorded = result.trace.blocks.items() if result.trace else ()
    return {
        block
        for block, events in recorded
        for event in events
        for one in event.operands
        if one.space is Space.GM and one.argument == argument and one.access is access
    }
