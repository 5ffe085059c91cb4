"""01.3, solved: the update of Chan, Golub and LeVeque, which for parts of one element
is Welford's.
"""

from collections.abc import Iterable

import numpy as np


def combine(
    count_a: int, mean_a: float, m2_a: float, count_b: int, mean_b: float, m2_b: float
) -> tuple[int, float, float]:
    """Return count, mean and m2 of two parts together. One of them may be empty (count
    0). If both are empty, all three results are 0.
    """
    count = count_a + count_b
    if count == 0:
        return 0, 0.0, 0.0
    delta = mean_b - mean_a
    mean = mean_a + delta * count_b / count
    m2 = m2_a + m2_b + delta * delta * count_a * count_b / count
    return count, mean, m2


def statistics(chunks: Iterable[np.ndarray]) -> tuple[float, float]:
    """Return mean and variance of all chunks together. You can iterate over them once,
    and some may be empty.
    """
    count, mean, m2 = 0, 0.0, 0.0
    for chunk in chunks:
        if chunk.size == 0:
            continue
        middle = chunk.mean()
        spread = ((chunk - middle) ** 2).sum()
        count, mean, m2 = combine(count, mean, m2, chunk.size, middle, spread)
    return mean, m2 / count
