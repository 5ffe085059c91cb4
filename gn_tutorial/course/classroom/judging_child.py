"""The process that judges texts, one after the other: ``python -m gn_tutorial.course.classroom.judging_child FOLDER``.

A line of JSON comes in for each text, a line goes out for each judgement. What a text makes run has walls of its own;
this process is there so that whoever waits can stop it. It ends, and all that it started, when nobody is left to ask.

Its cache lies over that of the user, which it only reads (docs/platforms.md): several judges wait for no lock of one
another, and what the texts compiled to is gone with them.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

#: A text that holds the interpreter (a regular expression over it) hears no other end; seconds beyond its limit.
_GRACE = 60


def main() -> None:
    """Judge until standard input ends; all files are made in the folder, which is removed then."""
    asks, answers, folder = _own(0, "rb"), _own(1, "wb"), sys.argv[1]
    os.environ["GNT_CACHE_BASE"] = os.environ.get("GNT_CACHE_BASE") or _users_cache()
    os.environ["GNT_CACHE_DIR"] = str(Path(folder) / "cache")
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(asks, lines, folder), daemon=True).start()
    from gn_tutorial.course.classroom.judge_text import TextJudge
    from gn_tutorial.course.classroom.submissions import Text

    with TextJudge() as judge:
        while True:
            asked = json.loads(lines.get())
            signal.alarm(4 * int(asked["limit"]) + _GRACE)
            found = judge.judge(Text(**asked["text"]), asked["limit"])
            signal.alarm(0)
            answers.write(json.dumps(asdict(found)).encode() + b"\n")
            answers.flush()


def _own(stream: int, mode: str) -> BinaryIO:
    """A standard stream for this process alone: what it starts finds /dev/null in its place."""
    kept = os.fdopen(os.dup(stream), mode)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, stream)
    os.close(nothing)
    return kept


def _users_cache() -> str:
    from gn_tutorial.compiler.cache import default_cache

    return str(default_cache().root)


def _read(asks: BinaryIO, lines: queue.Queue[bytes], folder: str) -> None:
    """Hand on what comes; at the end take everything along that was started."""
    with contextlib.suppress(OSError):
        for line in asks:
            lines.put(line)
    command = [sys.executable, "-P", "-m", "gn_tutorial.course.classroom.process_tree", str(os.getpid()), folder]
    subprocess.run(command, stdin=subprocess.DEVNULL, start_new_session=True, check=False)
    os._exit(0)  # where it could not be started


if __name__ == "__main__":
    sys.exit(main())
