"""Judges submitted texts, one after the other: ``python -m gn_tutorial.course.classroom.judging_child FOLDER``.

This process reads a line of JSON for each text, and writes one for each judgement. Other modules isolate the programs
of a text; this one exists so that its parent can stop it. At the end of its input it ends itself and all processes
that it started.

It writes into a cache of its own, and only reads the user's or the class's (docs/platforms.md). So judges do not wait
for each other's locks, and the libraries compiled for the texts are removed with that cache.
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

#: Seconds. An alarm ends this process if a text takes longer than four times its limit plus these seconds. Nothing else
#: in this process can end a text that blocks the interpreter, as a regular expression can.
_GRACE = 60


def main() -> None:
    """Judge until standard input ends. All files are made in FOLDER, which is removed at the end."""
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
    """Return a standard stream for this process alone. The processes that it starts get /dev/null instead."""
    kept = os.fdopen(os.dup(stream), mode)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, stream)
    os.close(nothing)
    return kept


def _users_cache() -> str:
    from gn_tutorial.compiler.cache import default_cache

    return str(default_cache().root)


def _read(asks: BinaryIO, lines: queue.Queue[bytes], folder: str) -> None:
    """Put each line of the input into the queue. At the input's end, end this process and all that it started."""
    with contextlib.suppress(OSError):
        for line in asks:
            lines.put(line)
    command = [sys.executable, "-P", "-m", "gn_tutorial.course.classroom.process_tree", str(os.getpid()), folder]
    subprocess.run(command, stdin=subprocess.DEVNULL, start_new_session=True, check=False)
    os._exit(0)  # reached only if process_tree could not be started


if __name__ == "__main__":
    sys.exit(main())
