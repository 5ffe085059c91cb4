"""What the checks of 10.1 and 10.2 share: data without symmetry, and the quantities of the derivation."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping

import numpy as np

from gn_tutorial import reference
from gn_tutorial.course.exercises.check_python import PythonCase

Got = Mapping[str, np.ndarray]


def _arguments(rng: np.random.Generator, shape: tuple[int, ...], groups: int) -> dict[str, np.ndarray | int]:
    """Return data without symmetry. No mean is near 0, nor dy's: with a mean of 0 a missing term changes nothing."""
    ramp = np.linspace(-1, 4, int(np.prod(shape))).reshape(shape)
    x = rng.standard_normal(shape) * 2 + ramp
    dy = rng.standard_normal(shape) + rng.uniform(0.5, 2, (shape[0], shape[1]) + (1,) * (len(shape) - 2))
    gamma = rng.uniform(0.5, 1.5, shape[1]) * np.where(np.arange(shape[1]) % 3 == 1, -1.0, 2.0)
    # An eps that nobody guesses: an attempt must use the given mean and rstd.
    saved = reference.group_norm(x, gamma, num_groups=groups, eps=float(rng.uniform(2e-3, 8e-3)))
    return {"dy": dy, "x": x, "gamma": gamma, "mean": saved.mean, "rstd": saved.rstd, "num_groups": groups}


def gradient_case(
    rng: np.random.Generator, function: str, names: tuple[str, ...], shape: tuple[int, ...], groups: int
) -> PythonCase:
    """A call of ``function``, which returns the gradients ``names``."""
    arguments = _arguments(rng, shape, groups)
    truth = reference.group_norm_backward(**arguments)._asdict()
    expected = {name: truth[name] for name in names}
    return PythonCase(f"x of shape {shape}, {groups} groups", function, arguments, expected)


def drawn_shape(rng: np.random.Generator) -> tuple[tuple[int, ...], int]:
    """Draw a shape of x and a number of groups."""
    groups = int(rng.integers(2, 5))
    return (int(rng.integers(2, 4)), groups * int(rng.integers(2, 5)), int(rng.integers(2, 7))), groups


# No two sizes of the first are equal (N 2, G 3, C / G 4, S 5), so that no array lies along a wrong axis by chance.
SHAPES = [((2, 12, 5), 3), ((1, 4, 1), 2), ((2, 6, 4, 5), 3), ((3, 4), 2), ((2, 8, 3, 2, 2), 8)]


class Parts:
    """The quantities of the derivation, with the axes sample, group, channel of the group, position."""

    def __init__(self, case: PythonCase) -> None:
        given = case.arguments
        batch, channels = given["x"].shape[:2]
        groups = given["num_groups"]
        split = (batch, groups, channels // groups, int(np.prod(given["x"].shape[2:], dtype=int)))
        self.dy, self.x = given["dy"].reshape(split), given["x"].reshape(split)
        self.gamma = given["gamma"].reshape(1, groups, -1, 1)
        self.rstd = given["rstd"].reshape(batch, groups, 1, 1)
        self.centred = self.x - given["mean"].reshape(batch, groups, 1, 1)
        self.xhat = self.centred * self.rstd
        self.a = self.dy * self.gamma

    def with_own_rstd(self) -> Iterator[Parts]:
        """Yield the same with an rstd that an attempt may compute itself: with a usual eps, or by count less one."""
        rows = self.x.reshape(*self.x.shape[:2], -1)
        count = rows.shape[2]
        variances = [rows.var(axis=2, ddof=ddof) for ddof in (0, 1) if ddof < count]
        for variance in variances:
            for eps in (0.0, 1e-3, *(10.0**-digits for digits in range(4, 13))):
                own = copy.copy(self)
                with np.errstate(divide="ignore", invalid="ignore"):
                    own.rstd = 1 / np.sqrt(variance + eps)[:, :, None, None]
                    own.xhat = self.centred * own.rstd
                yield own


OWN_RSTD = (
    "rstd was computed anew, with another eps or divisor than in the forward pass: use the given rstd of the "
    "forward pass"
)
