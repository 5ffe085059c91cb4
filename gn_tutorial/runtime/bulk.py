"""Filling and copying whole arrays: large ones on several threads, since one does not use all that memory can do."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from gn_tutorial.runtime.launch_types import FLOAT_POISON, POISON_BYTE

#: Bytes for one thread at least: it takes a millisecond, twenty times what starting a thread takes.
_SHARE = 8 << 20
#: More threads than this find no more bandwidth.
_MOST_THREADS = 8


def usable_cpus() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def copy_into(target: np.ndarray, source: np.ndarray) -> None:
    """Copy a flat array into another of the same length and dtype."""
    _in_shares(target, lambda share: np.copyto(target[share], source[share]))


def poison(array: np.ndarray) -> None:
    """Fill a C-contiguous array with its dtype's poison: FLOAT_POISON, or POISON_BYTE in each byte."""
    pattern = FLOAT_POISON.get(array.dtype.name)
    flat = array.reshape(-1)
    words, value = (flat.view(np.uint8), POISON_BYTE) if pattern is None else (flat.view(f"u{flat.itemsize}"), pattern)
    _in_shares(words, lambda share: words[share].fill(value))


def _in_shares(array: np.ndarray, work: Callable[[slice], None]) -> None:
    shares = min(array.nbytes // _SHARE, usable_cpus(), _MOST_THREADS)
    if shares < 2:
        return work(slice(None))
    ends = [array.size * index // shares for index in range(shares + 1)]
    with ThreadPoolExecutor(shares - 1) as threads:
        others = [threads.submit(work, slice(*pair)) for pair in pairwise(ends[1:])]
        work(slice(0, ends[1]))
        for one in others:
            one.result()
    return None
