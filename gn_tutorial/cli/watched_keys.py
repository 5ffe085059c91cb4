"""The events for which ``gnt learn --watch`` waits: a save of the file, or a key."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: The event after a save of the file.
SAVED = "saved"
#: The keys, and what they do.
KEYS = {"n": "next", "h": "hint", "l": "list", "c": "check", "q": "quit"}
#: Milliseconds between two reads of the keyboard: quick for a person, cheap for the processor.
_POLL_MS = 100


def saves_and_keys(path: Path) -> Iterator[str]:
    """Yield ``SAVED`` after each save of the file and, if there is a terminal, each key of ``KEYS`` that is pressed."""
    from watchfiles import watch

    with _single_keys() as terminal:
        # Watch the folder, because many editors save by renaming a new file over the old one.
        looks = watch(path.parent, rust_timeout=_POLL_MS, yield_on_timeout=True, raise_interrupt=True)
        for changes in looks:
            yield from _pressed(terminal)
            if any(Path(changed).name == path.name for _, changed in changes):
                yield SAVED


def _pressed(terminal: int | None) -> Iterator[str]:
    """Yield the keys of KEYS pressed since the last call. terminal: a descriptor, None if there is no terminal."""
    while terminal is not None and select.select([terminal], [], [], 0)[0]:
        typed = os.read(terminal, 64).decode(errors="ignore").lower()
        if not typed:  # the terminal is gone
            return
        yield from (key for key in typed if key in KEYS)


@contextmanager
def _single_keys() -> Iterator[int | None]:
    """Make the terminal pass on each key at once, and yield its descriptor; yield None if there is no terminal."""
    if not sys.stdin.isatty():
        yield None
        return
    import termios  # exists on Unix only
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        # Ctrl-C still interrupts. With TCSANOW, a key that was pressed a moment ago is not thrown away.
        tty.setcbreak(terminal, termios.TCSANOW)
        yield terminal
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
