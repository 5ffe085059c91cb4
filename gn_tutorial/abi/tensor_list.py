"""A list of tensors in memory, as kernels read it with ListTensorDesc (a DYNAMIC input or output of an operator).

It consists of words of 64 bits. The first word is the byte offset of the addresses, which are at the end. Between the
first word and the addresses, each tensor has a word with its number of axes (lower half) and its place in the list
(upper half), and then the lengths of its axes. Source: docs/zh/api, 辅助数据结构/ListTensorDesc.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def list_words(shapes: Sequence[tuple[int, ...]], first: int) -> np.ndarray:
    """Return the words of a list, uint64, in which argument indices stand in place of the tensors' addresses.

    first: the index of the list's first tensor among the launch's arguments. The launch fills in the addresses
    (``with_addresses``).
    """
    described = [word for place, shape in enumerate(shapes) for word in (len(shape) | place << 32, *shape)]
    indices = range(first, first + len(shapes))
    return np.array([8 * (1 + len(described)), *described, *indices], np.uint64)


def with_addresses(words: np.ndarray, addresses: Sequence[int]) -> np.ndarray:
    """Return a copy of the words with addresses instead of indices. addresses: one for each argument of the launch."""
    filled, begin = words.copy(), int(words[0]) // 8
    filled[begin:] = [addresses[int(index)] for index in words[begin:]]
    return filled
