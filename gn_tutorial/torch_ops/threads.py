"""How many threads PyTorch's own operators take: one, where each of them has little to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch's CPU operators on one thread inside, on as many as before afterwards.

    PyTorch shares an operator among a thread for each core, and waits for the slowest. A small one is then no faster,
    and much slower where a core has other work: a hundred steps of ``train_digits`` took 21 s on two busy cores, and
    0.9 s on one thread. The number belongs to the process, so other threads that call PyTorch meanwhile have it, too.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
