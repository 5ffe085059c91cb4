"""01.3: mean and variance of data that stream past in chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gn_tutorial.compare.elements import same
from gn_tutorial.course.exercises.check_python import Chunks, PythonCase, PythonChecker


def _chunk_cases(rng: np.random.Generator) -> list[PythonCase]:
    # First two parts that are not empty: with an empty one many wrong formulas agree.
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
    """Return a case whose first chunk is empty, and another one in the middle."""
    case = _stream_case(rng, 12, 5, 2.0, 1.0)
    first, *others = case.arguments["chunks"].arrays
    empty = np.zeros(0)
    arguments = {"chunks": Chunks((empty, first, empty, *others))}
    return replace(case, label="12 numbers in chunks of 0, 5, 0, 5 and 2", arguments=arguments)


def _long_case(rng: np.random.Generator) -> PythonCase:
    """Return a case of two million bytes in 257 chunks. A quarter fits: three numbers a chunk do, all data do not."""
    return replace(_stream_case(rng, 256 * 1000 + 7, 1000, 30.0, 2.0), room=512_000)


def _which_part(case: PythonCase, got: Mapping[str, np.ndarray]) -> str | None:
    """Return what went wrong in ``combine``: first in the mean, because m2 may be right even if the mean is wrong."""
    count_a, mean_a, m2_a, count_b, mean_b, m2_b = (float(value) for value in case.arguments.values())
    count, delta = count_a + count_b, mean_b - mean_a
    if not (count_a and count_b):
        if all(same(got[name], want) for name, want in case.expected.items()):
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
    if not same(got["mean"], case.expected["mean"]):
        return next((words for value, words in means if same(got["mean"], np.asarray(value))), None)
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
    return next((words for value, words in spreads if same(np.asarray(between), np.asarray(value))), None)


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
    if same(got["variance"], case.expected["variance"] * length):
        return "this is m2, the sum of squared differences: divide it by the count"
    if same(got["mean"], case.expected["mean"]) and same(got["variance"], _of_means(case)):
        return (
            "m2 of a chunk is the mean of its squared differences here; m2 is their sum. The division by the count "
            "comes once, at the end"
        )
    if same(got["variance"], case.expected["variance"] * length / (length - 1)):
        return "the variance is divided by the count less one; GroupNorm divides by the count"
    mean = float(case.expected["mean"])
    if abs(mean) > 1e4 and same(got["mean"], case.expected["mean"]):
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


CHECK = PythonChecker(
    _chunk_cases,
    # The spread is 1e-8 of the mean: x itself holds it with eight digits, and rounding the mean costs two of them.
    rtol=1e-5,
    atol=1e-12,
    forbidden=dict.fromkeys(("var", "std", "nanvar", "nanstd", "cov"), "sum the squared differences yourself"),
    symptoms=(_which_combination,),
    raised=_chunk_raised,
)
