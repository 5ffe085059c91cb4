"""The error bands of modelled times: the rule that computed the ``error_bands`` of machines/a2.toml.

The model was compared with published launches (published_launches.csv). A band spans their ratios of measured to
modelled time, with a margin for other kernels. It is never wider than a factor of two, because a wider band would not
help; docs/timing-model.md lists the few launches outside it.
"""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gn_tutorial.timing.machine import ErrorBand

_LAUNCHES = Path(__file__).with_name("published_launches.csv")
#: Launches below and above this modelled time, in us, have separate bands: the cost of the launch itself matters less
#: in longer ones.
SHORT_US = 30.0
#: The margin beyond the measured ratios for other kernels; the smallest deviation that a band allows on each side; and
#: the largest ratio of its upper to its lower end.
_MORE, _LEAST, _WIDEST = 1.05, 1.15, 2.0
_NOISE = 1e-6  # of float64, before a figure is rounded


class Launch(NamedTuple):
    """One published launch of a production operator. Times in us; ``modelled_us`` uses the current constants.

    shape: of its first input, as JSON. attr: num_groups of group_norm, dim of swi_glu, else empty. blocks: from the
    operator's own tiling. fitted: the constant that was fitted to this launch, so its agreement proves nothing.
    """

    op: str
    case: str
    dtype: str
    shape: str
    attr: str
    blocks: int
    measured_us: float
    modelled_us: float
    fitted: str

    @property
    def ratio(self) -> float:
        """Measured over modelled."""
        return self.measured_us / self.modelled_us


@functools.cache
def published_launches() -> tuple[Launch, ...]:
    """The rows of ``published_launches.csv``."""
    with _LAUNCHES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return tuple(
        Launch(
            **{
                **row,
                "blocks": int(row["blocks"]),
                "measured_us": float(row["measured_us"]),
                "modelled_us": float(row["modelled_us"]),
            }
        )
        for row in rows
    )


def bands_of(launches: Sequence[Launch], source: str = "") -> tuple[ErrorBand, ErrorBand]:
    """Compute the bands of short and of long launches from these launches. There must be some of each."""
    found = []
    for below, chosen in (
        (SHORT_US, [one.ratio for one in launches if one.modelled_us < SHORT_US]),
        (1e12, [one.ratio for one in launches if one.modelled_us >= SHORT_US]),
    ):
        least = min(min(chosen) / _MORE, 1.0 / _LEAST)
        most = min(max(max(chosen) * _MORE, _LEAST), _WIDEST * least)
        # Rounded inwards, so that the factor of two holds for the rounded figures too.
        low, high = math.ceil((1.0 / most - 1.0) * 1000.0 - _NOISE), math.floor((1.0 / least - 1.0) * 1000.0 + _NOISE)
        found.append(ErrorBand(below, low / 10.0, high / 10.0, source))
    return found[0], found[1]


def inside(launch: Launch, bands: Sequence[ErrorBand]) -> bool:
    """Whether the device's time lies in the band of its modelled time."""
    band = next(one for one in bands if launch.modelled_us < one.below_us)
    return band.low <= (1.0 / launch.ratio - 1.0) * 100.0 <= band.high
