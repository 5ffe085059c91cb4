"""01.3 Mean and variance of data that do not fit into the Unified Buffer: read chunk by
chunk, each chunk once.

A part of the data is described by three numbers: its count, its mean, and m2, the sum
of the squared differences from its mean. The variance is m2 / count.

NumPy's var and std are not allowed here: sum the squared differences yourself. Its mean
and sum are. The check looks at combine first, then at statistics.
"""

from collections.abc import Iterable

import numpy as np


def combine(
    count_a: int, mean_a: float, m2_a: float, count_b: int, mean_b: float, m2_b: float
) -> tuple[int, float, float]:
    """Return count, mean and m2 of two parts together. One of them may be empty (count
    0). If both are empty, all three results are 0.
    """
    raise NotImplementedError


def statistics(chunks: Iterable[np.ndarray]) -> tuple[float, float]:
    """Return mean and variance of all chunks together. Their lengths may differ, and
    may be 0.

    You can iterate over the chunks only once. They share a buffer: taking the next
    chunk overwrites the previous one.
    """
    raise NotImplementedError
