"""The parent's side of a ``judging_child``: sends one text at a time, with a time limit, and restarts a lost child."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from typing import Any, BinaryIO

from gn_tutorial import __version__
from gn_tutorial.course.classroom import process_tree
from gn_tutorial.course.classroom.judge_text import points_of
from gn_tutorial.course.classroom.judgement import Finding, Judgement, from_record
from gn_tutorial.course.classroom.submissions import Text
from gn_tutorial.runtime.deadline import LOOK_EVERY, Deadline

_COMMAND = (sys.executable, "-P", "-m", "gn_tutorial.course.classroom.judging_child")
#: How many times a text is tried if the judging process is lost each time. The first loss may be the machine's fault.
TRIES = 2
_TAIL = 2000


class JudgingProcess:
    """One judging child, started when it is needed. One thread calls ``judge``; another may call ``close``."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._said: BinaryIO | None = None
        self._folder, self._closed = "", False
        self._asking = threading.Lock()

    @property
    def pid(self) -> int:
        """The process id of the child, 0 if there is none."""
        return self._child.pid if self._child else 0

    def judge(self, text: Text, limit: float) -> Judgement:
        """Return the judgement on a text: stopped at its time limit, undecided if its judge is lost TRIES times.

        Raises RuntimeError if a child has to be started after ``close``.
        """
        with self._asking:
            return self._judge(text, limit)

    def _judge(self, text: Text, limit: float) -> Judgement:
        begun, last = time.monotonic(), ""
        for _ in range(TRIES):
            try:
                answer = self._ask(text, limit)
            except TimeoutError:
                self._drop()
                what = f"it was not judged within {limit:g} s and was stopped"
                return _without(text, "stopped", what, limit, begun)
            if answer is not None:
                return answer
            last = self._last_words()
            self._drop()
        what = f"the judge was lost {TRIES} times over this text. {last}".strip()
        return _without(text, "undecided", what, limit, begun)

    def close(self) -> None:
        """End the child and all that it started; start no other child. A waiting ``judge`` finds the child lost."""
        self._closed = True
        child = self._child
        if child is not None and child.poll() is None:
            process_tree.end(child.pid)
        with self._asking:
            self._drop()

    def _drop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            if child.poll() is None:
                process_tree.end(child.pid)
            for stream in (child.stdin, child.stdout):
                if stream:
                    with contextlib.suppress(OSError):
                        stream.close()
            child.wait()
        if self._said is not None:
            self._said.close()
            self._said = None
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""

    def _ask(self, text: Text, limit: float) -> Judgement | None:
        """Return the child's answer; None if the child was lost.

        Raises TimeoutError when ``limit`` has passed; RuntimeError if a child has to be started after ``close``.
        """
        if self._child is None or self._child.poll() is not None:
            self._drop()
            self._start()
        child = self._child
        assert child
        assert child.stdin
        assert child.stdout
        asked = {"text": {**asdict(text), "files": dict(text.files)}, "limit": limit}
        try:
            child.stdin.write(json.dumps(asked).encode() + b"\n")
            child.stdin.flush()
        except OSError:
            return None
        deadline, line = Deadline(limit), b""
        while not line.endswith(b"\n"):
            if not select.select([child.stdout], [], [], LOOK_EVERY)[0]:
                if deadline.left(child.pid) <= 0:
                    raise TimeoutError
                continue
            some = os.read(child.stdout.fileno(), 1 << 16)
            if not some:
                return None
            line += some
        found: Any = json.loads(line)
        return from_record(found)

    def _start(self) -> None:
        if self._closed:
            raise RuntimeError("nobody waits for this judgement any more")
        self._folder = tempfile.mkdtemp(prefix="gnt-judge-")
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (it is closed with the child)
        pipe, command = subprocess.PIPE, (*_COMMAND, self._folder)
        # A new session, so that Ctrl-C reaches only the parent.
        self._child = subprocess.Popen(
            command, bufsize=0, stdin=pipe, stdout=pipe, stderr=self._said, start_new_session=True
        )

    def _last_words(self) -> str:
        """Return how the child ended, and the last line that it wrote to standard error."""
        if self._child is None or self._said is None:
            return ""
        code = self._child.wait()
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - _TAIL))
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        ended = f"It ended by signal {-code}" if code < 0 else f"It ended with {code}"
        return f"{ended}: {lines[-1]}" if lines else ended


def _without(text: Text, status: str, what: str, limit: float, begun: float) -> Judgement:
    """Return the judgement on a text for which the judge gave no answer."""
    seconds = round(time.monotonic() - begun, 3)
    return Judgement(text.digest, status, 0.0, points_of(text.kind), (Finding(what),), seconds, limit, __version__)
