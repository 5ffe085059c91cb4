"""01.1: GroupNorm in NumPy. 01.2: the two limits. 01.3: mean and variance of data that stream past in chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gn_tutorial import reference
from gn_tutorial.course.exercises.check_python import Chunks, PythonCase, PythonChecker

#: A mean this far above a spread of 2: the mean of the squares is 1e11, and doubles are 1.5e-5 apart there, so that the
#: one-pass variance is right to five digits. Two passes lose two of seventeen.
_FAR = 300_000.0


def _norm_cases(rng: np.random.Generator) -> list[PythonCase]:
    # No two sizes of the first are equal (N 2, G 3, C / G 4, S 5), so that no array lies along a wrong axis by chance.
    shapes = [
        ((2, 12, 5), 3, 1e-5),
        ((1, 4, 1), 2, 1e-5),
        ((2, 6, 4, 5), 3, 1e-5),
        ((3, 4), 2, 1e-3),
        ((2, 8, 3, 2, 2), 8, 1e-5),
    ]
    groups = int(rng.integers(2, 5))
    hidden = (int(rng.integers(1, 4)), groups * int(rng.integers(2, 5)), int(rng.integers(1, 7)))
    cases = [_norm_case(rng, *shape) for shape in [*shapes, (hidden, groups, 1e-2)]]
    return [*cases, _norm_case(rng, (2, 6, 7), 3, 1e-5, _FAR)]


def _norm_case(
    rng: np.random.Generator, shape: tuple[int, ...], groups: int, eps: float, offset: float = 0.0
) -> PythonCase:
    x = rng.standard_normal(shape) * 2 + np.linspace(-1, 4, int(np.prod(shape))).reshape(shape) + offset
    gamma, beta = rng.uniform(0.5, 2, shape[1]), rng.uniform(1, 3, shape[1])
    arguments = {"x": x, "gamma": gamma, "beta": beta, "num_groups": groups, "eps": eps}
    truth = reference.group_norm(x, gamma, beta, num_groups=groups, eps=eps)
    around = f" around {offset:,.0f}" if offset else ""
    label = f"x of shape {shape}{around}, {groups} groups, eps {eps:g}"
    section = "A variance that keeps its digits" if offset else ""
    return PythonCase(label, "group_norm", arguments, truth._asdict(), section=section)


def _same(got: np.ndarray, other: np.ndarray) -> bool:
    return got.shape == other.shape and bool(np.allclose(got, other, rtol=1e-6, atol=1e-8))


def _which_formula(case: PythonCase, got: Mapping[str, np.ndarray]) -> str | None:
    x, gamma, beta = (case.arguments[name] for name in ("x", "gamma", "beta"))
    groups, eps = case.arguments["num_groups"], case.arguments["eps"]
    batch, channels = x.shape[:2]
    if _same(got["mean"], case.expected["rstd"]) and _same(got["rstd"], case.expected["mean"]):
        return "mean and rstd have changed places: the function returns y, mean, rstd, in this order"
    flat = x.reshape(batch, groups, -1)
    mixed = x.reshape(batch, channels // groups, groups, -1).swapaxes(1, 2).reshape(batch, groups, -1)
    if _same(got["mean"], mixed.mean(axis=2)) and channels > groups > 1:
        return "the groups are interleaved: group 0 holds the first C / G channels, not every G-th"
    rstd = got["rstd"]
    if abs(x).min() > _FAR / 2 and _same(got["mean"], case.expected["mean"]):
        return (
            "the variance has lost its digits. Far from 0, mean(x * x) - mean * mean subtracts one large number from "
            "another, whose last digits were rounded: subtract the mean from x first, then square"
        )
    count = flat.shape[2]
    if count > 1 and _same(rstd, 1 / np.sqrt(flat.var(axis=2) * count / (count - 1) + eps)):
        return f"the variance is divided by the count less one ({count - 1}); GroupNorm divides by the count ({count})"
    if _same(rstd, 1 / (np.sqrt(flat.var(axis=2)) + eps)):
        return "eps is added to the standard deviation; it belongs to the variance, under the root"
    if _same(rstd, 1 / np.sqrt(flat.var(axis=2))):
        return "eps is missing: a constant group would divide by zero"
    if _same(rstd, flat.var(axis=2)) or _same(rstd, np.sqrt(flat.var(axis=2) + eps)):
        return "rstd is one divided by the root of the variance plus eps"
    plain = (flat - flat.mean(axis=2, keepdims=True)) / np.sqrt(flat.var(axis=2, keepdims=True) + eps)
    plain = plain.reshape(x.shape)
    channel = (channels,) + (1,) * (x.ndim - 2)
    if _same(got["y"], plain):
        return "y is normalised, but gamma and beta are not applied"
    if _same(got["y"], plain * gamma.reshape(channel)):
        return "beta is missing in y"
    if _same(got["y"], plain * beta.reshape(channel) + gamma.reshape(channel)):
        return "gamma and beta have changed places"
    if _same(got["y"], (plain + beta.reshape(channel)) * gamma.reshape(channel)):
        return "beta is added before gamma is multiplied, so beta is scaled too: multiply by gamma first, then add beta"
    first = np.repeat(gamma[:: channels // groups], channels // groups).reshape(channel)
    if _same(got["y"], plain * first + beta.reshape(channel)):
        return "one gamma is used for a whole group; each channel has its own"
    return None


GROUP_NORM = PythonChecker(
    _norm_cases,
    # float64 inside: seven digits are far from any rounding and near enough to tell the wrong formulas apart.
    rtol=1e-7,
    atol=1e-9,
    symptoms=(_which_formula,),
)


def _chunk_cases(rng: np.random.Generator) -> list[PythonCase]:
    # Two parts that hold something come first: with an empty one many wrong formulas agree.
    parts = [(2, 1.0, 0.5, 6, -3.0, 4.0), (0, 0.0, 0.0, 3, 1.5, 2.0), (3, 1.5, 2.0, 0, 0.0, 0.0)]
    parts += [(0, 0.0, 0.0, 0, 0.0, 0.0)]
    cases = [_combine_case(part) for part in parts]
    # Lengths that no chunk divides, so that the parts have different counts; then a mean far above the spread, where
    # mean(x * x) - mean * mean has no right digit left.
    cases += [_stream_case(rng, *shape) for shape in [(5, 2, 1.0, 2.0), (40, 16, 3.0, 1.0), (1000, 64, 1e6, 0.01)]]
    hidden = (int(rng.integers(100, 900)), int(rng.integers(7, 60)), float(rng.uniform(1e5, 1e6)), 0.02)
    return [*cases, _stream_case(rng, *hidden), _empty_case(rng), _long_case(rng)]


def _combine_case(part: tuple[int, float, float, int, float, float]) -> PythonCase:
    names = ("count_a", "mean_a", "m2_a", "count_b", "mean_b", "m2_b")
    count_a, mean_a, m2_a, count_b, mean_b, m2_b = part
    count = count_a + count_b
    mean = (count_a * mean_a + count_b * mean_b) / max(count, 1)
    m2 = m2_a + m2_b + count_a * (mean_a - mean) ** 2 + count_b * (mean_b - mean) ** 2
    expected = {"count": np.asarray(count), "mean": np.asarray(mean), "m2": np.asarray(m2)}
    label = f"a part of {count_a} with mean {mean_a}, and one of {count_b} with mean {mean_b}"
    return PythonCase(label, "combine", dict(zip(names, part, strict=True)), expected)


def _stream_case(rng: np.random.Generator, length: int, chunk: int, mean: float, sigma: float) -> PythonCase:
    x = rng.standard_normal(length) * sigma + mean
    expected = {"mean": np.asarray(x.mean()), "variance": np.asarray(np.square(x - x.mean()).mean())}
    chunks = Chunks(tuple(x[at : at + chunk] for at in range(0, length, chunk)))
    label = f"{length} numbers around {mean:g} with spread {sigma:g}, in chunks of {chunk}"
    return PythonCase(label, "statistics", {"chunks": chunks}, expected)


def _empty_case(rng: np.random.Generator) -> PythonCase:
    """The first chunk is empty, and one in the middle."""
    case = _stream_case(rng, 12, 5, 2.0, 1.0)
    first, *others = case.arguments["chunks"].arrays
    empty = np.zeros(0)
    arguments = {"chunks": Chunks((empty, first, empty, *others))}
    return replace(case, label="12 numbers in chunks of 0, 5, 0, 5 and 2", arguments=arguments)


def _long_case(rng: np.random.Generator) -> PythonCase:
    """Two million bytes in 257 chunks, and room for a quarter: three numbers for each chunk fit, its data do not."""
    return replace(_stream_case(rng, 256 * 1000 + 7, 1000, 30.0, 2.0), room=512_000)


def _which_part(case: PythonCase, got: Mapping[str, np.ndarray]) -> str | None:
    """What went wrong in ``combine``. The mean comes first: where it is wrong, m2 may be right."""
    count_a, mean_a, m2_a, count_b, mean_b, m2_b = (float(value) for value in case.arguments.values())
    count, delta = count_a + count_b, mean_b - mean_a
    if not (count_a and count_b):
        if all(_same(got[name], want) for name, want in case.expected.items()):
            return None
        if count == 0:
            return "both parts are empty, so nothing is there: the count is 0, and mean and m2 are 0 too"
        return "one part is empty (its count is 0): the result is the other part as it is"
    means = [
        ((mean_a + mean_b) / 2, "the two means are averaged as if the parts had the same count"),
        (
            mean_a + delta * count_a / count,
            "each mean has the weight of the other part: from mean_a go count_b / count of the way to mean_b",
        ),
        (
            mean_a - delta * count_b / count,
            "the mean moves away from mean_b: the difference to add is mean_b - mean_a, not mean_a - mean_b",
        ),
        (
            mean_a + delta / count,
            "the mean moves by the difference divided by count, as if part b were one number; it has count_b",
        ),
        (count_a * mean_a + count_b * mean_b, "the mean is the sum of both parts: divide it by the count of both"),
    ]
    if not _same(got["mean"], case.expected["mean"]):
        return next((words for value, words in means if _same(got["mean"], np.asarray(value))), None)
    between = float(got["m2"]) - m2_a - m2_b
    spreads = [
        (0.0, "m2 lacks the spread between the two means: the parts lie around different middles"),
        (
            delta * count_a * count_b / count,
            "in m2 the difference of the means is not squared: differences are squared before they are summed",
        ),
        *(
            (delta * delta * half / 2, "m2 has count / 2, which holds only for equal counts: count_a * count_b / count")
            for half in (count_a, count_b, count / 2)
        ),
        (
            (m2_a + m2_b) / count + delta * delta * count_a * count_b / count**2 - m2_a - m2_b,
            "m2 is the mean of the "
            "squared differences here; it is their sum, and statistics divides by the count at the end",
        ),
        (delta * delta * count_a * count_b, "in m2 the product of the counts is not divided by the count of both"),
    ]
    return next((words for value, words in spreads if _same(np.asarray(between), np.asarray(value))), None)


def _which_combination(case: PythonCase, got: Mapping[str, np.ndarray]) -> str | None:
    if case.function == "combine":
        return _which_part(case, got)
    if any(array.size == 0 for array in case.arguments["chunks"].arrays):
        return "a chunk may be empty: it has no mean (0 divided by 0) and changes nothing"
    if np.isnan(got["mean"]).any() or np.isnan(got["variance"]).any():
        return (
            "a chunk is used after the next one was taken: they share one buffer, which then holds other data. "
            "Take each chunk's own count, mean and m2 while it is there"
        )
    length = sum(array.size for array in case.arguments["chunks"].arrays)
    if _same(got["variance"], case.expected["variance"] * length):
        return "this is m2, the sum of squared differences: divide it by the count"
    if _same(got["mean"], case.expected["mean"]) and _same(got["variance"], _of_means(case)):
        return (
            "m2 of a chunk is the mean of its squared differences here; m2 is their sum. The division by the count "
            "comes once, at the end"
        )
    if _same(got["variance"], case.expected["variance"] * length / (length - 1)):
        return "the variance is divided by the count less one; GroupNorm divides by the count"
    mean = float(case.expected["mean"])
    if abs(mean) > 1e4 and _same(got["mean"], case.expected["mean"]):
        return (
            "the variance has lost its digits: a difference of two large numbers, such as mean(x * x) - mean * mean, "
            "cancels where the mean is far above the spread"
        )
    return None


def _of_means(case: PythonCase) -> np.ndarray:
    """The variance if m2 of each chunk is the mean of its squared differences, not their sum."""
    parts = [chunk for chunk in case.arguments["chunks"].arrays if chunk.size]
    length, mean = sum(part.size for part in parts), case.expected["mean"]
    return sum(part.var() + part.size * (part.mean() - mean) ** 2 for part in parts) / length


def _chunk_raised(case: PythonCase, said: str, function: str) -> str | None:
    del function
    if not said.startswith("ZeroDivisionError"):
        return None
    if case.function == "statistics":
        return "A chunk may be empty: it has no mean, and changes nothing"
    if case.arguments["count_a"] + case.arguments["count_b"] == 0:
        return "Both parts are empty here: the count of both together is 0, and nothing can be divided by it"
    return "One part is empty here: its count is 0, and nothing can be divided by it"


CHUNK_STATISTICS = PythonChecker(
    _chunk_cases,
    # The spread is 1e-8 of the mean: x itself holds it with eight digits, and rounding the mean costs two of them.
    rtol=1e-5,
    atol=1e-12,
    forbidden=dict.fromkeys(("var", "std", "nanvar", "nanstd", "cov"), "sum the squared differences yourself"),
    symptoms=(_which_combination,),
    raised=_chunk_raised,
)


def _limit_cases(rng: np.random.Generator) -> list[PythonCase]:
    shapes = [((2, 3, 4), 1e-5), ((3, 5), 1e-3), ((2, 4, 3, 5), 1e-2), ((2, 3, 2, 3, 2), 1e-5)]
    shapes += [((int(rng.integers(2, 5)), int(rng.integers(2, 6)), int(rng.integers(2, 7))), 0.1)]
    return [_limit_case(rng, name, *shape) for name in ("layer_norm", "instance_norm") for shape in shapes]


def _limit_case(rng: np.random.Generator, name: str, shape: tuple[int, ...], eps: float) -> PythonCase:
    own = shape[1:] if name == "layer_norm" else shape[1:2]
    x = rng.standard_normal(shape) * 2 + np.linspace(-1, 4, int(np.prod(shape))).reshape(shape)
    gamma, beta = rng.uniform(0.5, 2, own), rng.uniform(1, 3, own)
    truth = getattr(reference, name)(x, gamma, beta, eps=eps)
    arguments = {"x": x, "gamma": gamma, "beta": beta, "eps": eps}
    return PythonCase(f"x of shape {shape}, eps {eps:g}", name, arguments, truth._asdict())


def _which_limit(case: PythonCase, got: Mapping[str, np.ndarray]) -> str | None:
    x, gamma, beta, eps = (case.arguments[name] for name in ("x", "gamma", "beta", "eps"))
    if case.function == "instance_norm":
        if x.ndim > 2 and np.ptp(got["mean"], axis=1).max() == 0:
            return "all channels of a sample share one mean: that is LayerNorm; InstanceNorm takes one for each channel"
        return None
    inner = tuple(range(2, x.ndim))
    each = (x - x.mean(axis=inner, keepdims=True)) / np.sqrt(x.var(axis=inner, keepdims=True) + eps)
    if _same(got["y"], each * gamma + beta):
        return "each channel is normalised by itself (G = C): that is InstanceNorm; LayerNorm has one group, G = 1"
    axes = tuple(range(1, x.ndim))
    plain = (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + eps)
    if _same(got["y"], plain):
        return "y is normalised, but gamma and beta of LayerNorm are not applied"
    before = x * gamma
    early = (before - before.mean(axis=axes, keepdims=True)) / np.sqrt(before.var(axis=axes, keepdims=True) + eps)
    if _same(got["y"], early + beta):
        return "gamma is multiplied before the normalisation, which takes its effect off again; it comes afterwards"
    if _same(got["rstd"], (1 / np.sqrt(x.var(axis=inner) + eps)).mean(axis=1)):
        return "this is one mean for each channel, so InstanceNorm; LayerNorm takes one for a whole sample"
    for other in (1e-5, 0.0):
        if eps != other and _same(got["rstd"], 1 / np.sqrt(x.var(axis=axes) + other)):
            return f"eps is {other:g} here, which is not the eps that was given, {eps:g}"
    return None


def _limit_shapes(case: PythonCase, got: Mapping[str, np.ndarray]) -> str | None:
    batch, channels = case.arguments["x"].shape[:2]
    shape = got["mean"].shape
    if case.function == "layer_norm" and shape == (batch, channels):
        return "that is one mean for each channel (G = C), InstanceNorm; LayerNorm has one group, G = 1"
    if case.function == "layer_norm" and shape == (batch, 1):
        return "drop the axis of the groups, which has length 1"
    if case.function == "instance_norm" and shape in ((batch, 1), (batch,)):
        return "that is one mean for each sample (G = 1), LayerNorm; InstanceNorm has C groups, one for each channel"
    return None


def _limit_raised(case: PythonCase, said: str, function: str) -> str | None:
    if function != "group_norm":
        return None
    if "NoneType" in said:
        return "group_norm needs a gamma and a beta: ones and zeros, one for each channel, change nothing"
    if case.function == "layer_norm" and "broadcast" in said:
        return (
            "LayerNorm's gamma has one number for each element, group_norm's one for each channel: give group_norm a "
            "gamma and a beta of its own, which change nothing"
        )
    return None


LIMITS = PythonChecker(
    _limit_cases, rtol=1e-7, atol=1e-9, symptoms=(_which_limit,), shapes=_limit_shapes, raised=_limit_raised
)
