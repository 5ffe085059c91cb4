"""The two named pipes between a test program and this process: lines of text with raw bytes between them.

The program writes to ``ask`` and reads from ``answer`` (``gn_twin/host/aclnn_call.h``).
"""

from __future__ import annotations

import os
import select
import threading
from pathlib import Path

_CHUNK = 1 << 16
_LOOK_EVERY = 0.1


class PipeClosed(Exception):
    """Raised when a read or a write would wait for a program that has ended, or whose time is over."""


class CallPipes:
    """Two pipes that ``open`` makes in ``folder``. Reads and writes wait for the program until ``stop`` is set."""

    def __init__(self, folder: Path, stop: threading.Event) -> None:
        self._folder, self._stop = folder, stop
        self._buffer = bytearray()

    def open(self) -> None:
        """Make both pipes, and open each for reading and writing.

        Because this process holds both ends, opening does not block, and a program that ends causes no end of file.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in ("ask", "answer"):
            os.mkfifo(self._folder / name)
        self._ask, self._answer = (os.open(self._folder / one, os.O_RDWR | os.O_NONBLOCK) for one in ("ask", "answer"))

    def close(self) -> None:
        """Close both pipes."""
        os.close(self._ask)
        os.close(self._answer)

    def line(self) -> str:
        """Return the next line from the program, without its newline. Raises PipeClosed."""
        while (end := self._buffer.find(b"\n")) < 0:
            self._wait(self._ask, select.POLLIN)
            self._buffer += os.read(self._ask, _CHUNK)
        line = self._buffer[:end].decode("utf-8", "replace")
        del self._buffer[: end + 1]
        return line

    def read(self, count: int) -> bytearray:
        """Return the next ``count`` bytes from the program. Raises PipeClosed."""
        data = self._buffer[:count]
        del self._buffer[: len(data)]
        have = len(data)
        data.extend(bytes(count - have))
        with memoryview(data) as view:
            while have < count:
                self._wait(self._ask, select.POLLIN)
                have += os.readv(self._ask, [view[have:]])
        return data

    def send(self, data: bytes | bytearray) -> None:
        """Write all of ``data`` to the program. Raises PipeClosed."""
        with memoryview(data) as view:
            sent = 0
            while sent < len(view):
                self._wait(self._answer, select.POLLOUT)
                sent += os.write(self._answer, view[sent : sent + _CHUNK])

    def _wait(self, descriptor: int, events: int) -> None:
        poll = select.poll()
        poll.register(descriptor, events)
        while not poll.poll(_LOOK_EVERY * 1000):
            if self._stop.is_set():
                raise PipeClosed
