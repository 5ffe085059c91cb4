"""A list of tensors in memory, as kernels read it with ListTensorDesc (a DYNAMIC input or output of an operator).

Words of 64 bits: the distance in bytes to the addresses; for each tensor a word with its number of axes (lower half)
and its place (upper half), and the axes' lengths; then the addresses. Source: docs/zh/api, 辅助数据结构/ListTensorDesc.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def list_words(shapes: Sequence[tuple[int, ...]], first: int) -> np.ndarray:
    """The words of a list, uint64. first: index among the launch's arguments of its first tensor.

    In place of each address stands the index of the tensor's argument: whoever launches knows where that lies.
    """
    described = [word for place, shape in enumerate(shapes) for word in (len(shape) | place << 32, *shape)]
    indices = range(first, first + len(shapes))
    return np.array([8 * (1 + len(described)), *described, *indices], np.uint64)


def with_addresses(words: np.ndarray, addresses: Sequence[int]) -> np.ndarray:
    """A copy of the words with addresses instead of indices. addresses: of all arguments of the launch."""
    filled, begin = words.copy(), int(words[0]) // 8
    filled[begin:] = [addresses[int(index)] for index in words[begin:]]
    return filled
