"""How often a core's read of fresh data finds the memory taken: the memory as a queue with several servers.

HBM delivers as much as ``servers`` cores can take in at their full rate, ``hbm_read / mte2`` of them. Cores do not read
in step: they start one after another and spend part of their time computing. So a read meets a busy memory as often as
a customer of such a queue meets busy servers, which is Erlang's C formula. Below half of the memory's throughput that
is next to never; near all of it, always.

What cores do in a time as long as their starts are apart, they do at different moments; what lasts longer, such as a
first pass over all data, they do at the same time. So the load is what a core has read in the last stretch of that
length. Only ``+ - * /``, so that the digits are the same everywhere.
"""

from __future__ import annotations

from collections import deque


def waiting_share(servers: int, load: float) -> float:
    """Erlang's C: the share of customers that find all ``servers`` busy when these are busy ``load`` of the time."""
    if load >= 1.0 or servers < 1:
        return 1.0
    offered, blocked = servers * load, 1.0
    for count in range(1, servers + 1):
        blocked = offered * blocked / (count + offered * blocked)
    return blocked / (1.0 - load * (1.0 - blocked))


class ContendedMemory:
    """The memory as one core meets it, with all others doing what this one does.

    rate: bytes per cycle of the core's own way to it. share: what each core gets if all read at once. window: cycles by
    which the cores' starts are apart.
    """

    def __init__(self, rate: float, share: float, cores: int, window: float) -> None:
        self._rate, self._share, self._window = rate, min(share, rate), window
        self._servers = int(share * cores / rate)
        self._recent: deque[tuple[float, float, float]] = deque()  # start, end and bytes of reads

    def cycles(self, size: float, at: float) -> float:
        """How long a read of ``size`` bytes takes that starts at ``at``, no earlier than those before it ended."""
        if self._share >= self._rate or size <= 0.0:
            return size / self._rate
        waits = waiting_share(self._servers, self._read_since(at - self._window) / (self._window * self._share))
        taken = size * (waits / self._share + (1.0 - waits) / self._rate)
        self._recent.append((at, at + taken, size))
        return taken

    def _read_since(self, since: float) -> float:
        """Bytes read after that moment; of a read under way then, the part that was still to come."""
        while self._recent and self._recent[0][1] <= since:
            self._recent.popleft()
        read = 0.0
        for start, end, size in self._recent:
            read += size if start >= since else size * (end - since) / (end - start)
        return read
