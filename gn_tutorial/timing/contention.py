"""Models how often a read from HBM finds the memory busy. The model of the memory is a queue with several servers.

HBM serves ``servers`` = ``hbm_read / mte2`` cores at their full rate. Cores do not read in step: they start one after
another and compute part of the time. So a read finds the memory busy as often as a customer of such a queue finds all
servers busy. Erlang's C formula gives this share of reads. It is almost 0 while the cores need less than half of the
memory's throughput, and almost 1 while they need nearly all of it.

The cores start within a certain time (``window``). Activities shorter than ``window`` happen at different moments on
different cores; longer ones, such as a first pass over all data, happen at the same time. So the load is computed from
the bytes that a core has read in the last ``window`` cycles. The code uses only ``+ - * /``, so that the digits are the
same everywhere.

This is a module of its own, because it is a formula of queueing theory, and core_model, which uses it, is long.
"""

from __future__ import annotations

from collections import deque


def waiting_share(servers: int, load: float) -> float:
    """Return Erlang's C: the share of customers that find all ``servers`` busy.

    load: the share of time for which a server is busy.
    """
    if load >= 1.0 or servers < 1:
        return 1.0
    offered, blocked = servers * load, 1.0
    for count in range(1, servers + 1):
        blocked = offered * blocked / (count + offered * blocked)
    return blocked / (1.0 - load * (1.0 - blocked))


class ContendedMemory:
    """The memory as one core sees it. The model assumes that all other cores do the same as this one.

    rate: bytes per cycle of the core's own port. share: bytes per cycle for each core if all read at once. cores: how
    many cores run. window: cycles between the first and the last core's start.
    """

    def __init__(self, rate: float, share: float, cores: int, window: float) -> None:
        self._rate, self._share, self._window = rate, min(share, rate), window
        self._servers = int(share * cores / rate)
        self._recent: deque[tuple[float, float, float]] = deque()  # start, end and bytes of reads

    def cycles(self, size: float, at: float) -> float:
        """Return the cycles of a read of ``size`` bytes that starts at cycle ``at``, and record the read.

        Earlier reads must have ended before ``at``.
        """
        if self._share >= self._rate or size <= 0.0:
            return size / self._rate
        waits = waiting_share(self._servers, self._read_since(at - self._window) / (self._window * self._share))
        taken = size * (waits / self._share + (1.0 - waits) / self._rate)
        self._recent.append((at, at + taken, size))
        return taken

    def _read_since(self, since: float) -> float:
        """Return the bytes read after cycle ``since``. Of a read in progress at ``since`` only the rest counts."""
        while self._recent and self._recent[0][1] <= since:
            self._recent.popleft()
        read = 0.0
        for start, end, size in self._recent:
            read += size if start >= since else size * (end - since) / (end - start)
        return read
