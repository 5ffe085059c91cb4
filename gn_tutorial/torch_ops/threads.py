"""Limit PyTorch's own operators to one thread, if each has little to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Run PyTorch's CPU operators on one thread inside this context, then restore the number.

    PyTorch splits an operator into one thread a core, and waits for the slowest. A small operator is then no faster,
    and much slower if a core has other work: a hundred steps of ``train_digits`` took 21 s on two busy cores, and 0.9 s
    on one thread. The number belongs to the process, so it also affects other threads that call PyTorch meanwhile.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
