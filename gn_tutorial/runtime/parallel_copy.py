"""Copy whole arrays, large ones on several threads, because one thread does not use the full memory bandwidth."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

#: The least bytes for one thread. A piece that fits into the processor's caches is written through them, and a cache
#: first reads what it overwrites: two pieces of 20 MB take as long as one of 40, and twice the processor time.
_SHARE = 64 << 20
#: More threads than this gain no bandwidth.
_MOST_THREADS = 8


def usable_cpus() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def copy_into(target: np.ndarray, source: np.ndarray) -> None:
    """Copy a flat array into another of the same length and dtype."""
    shares = min(target.nbytes // _SHARE, usable_cpus(), _MOST_THREADS)
    if shares < 2:
        np.copyto(target, source)
        return
    ends = [target.size * index // shares for index in range(shares + 1)]

    def copy(start: int, end: int) -> None:
        np.copyto(target[start:end], source[start:end])

    with ThreadPoolExecutor(shares - 1) as threads:
        others = [threads.submit(copy, *pair) for pair in pairwise(ends[1:])]
        copy(0, ends[1])
        for one in others:
            one.result()
