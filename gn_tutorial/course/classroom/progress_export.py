"""A learner's progress in one file, to hand in: ``gnt progress export`` makes it, ``gnt class report`` reads it.

The file has what ``gnt learn list`` and ``gnt exam goals`` show: exercises and puzzles passed, hints, answers, points.
It has no source of the learner, no path of the computer, and no time of day except those of the export, of attempts at
the exam's tasks and of theory papers.
"""

from __future__ import annotations

import datetime
import getpass
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gn_tutorial import __version__
from gn_tutorial.course.atomic_write import write_atomically
from gn_tutorial.course.exam.attempt import Attempts, attempts_of, default_attempt_file
from gn_tutorial.course.exam.objective_progress import Learned
from gn_tutorial.course.progress import VERSION, default_progress, progress_of
from gn_tutorial.errors import ArgumentError

FORMAT = "gn_tutorial progress"
#: The version of the file's format; the progress in it has its own version.
FORMAT_VERSION = 1
_LARGEST = 4 << 20
_LONGEST_NAME = 80
#: The keys of a submission that are exported. The folder and the reasons of lost points are left out.
_OF_SUBMISSION = ("points", "accepted", "late", "at")


@dataclass(frozen=True)
class Export:
    """A learner's exported progress. date: date and time of the export, in ISO form. course: the course's version."""

    name: str
    date: str
    course: str
    known: Learned

    def record(self) -> dict[str, Any]:
        """Return the export as plain data."""
        attempts = [
            asdict(one)
            | {"folder": "", "submissions": [{key: said[key] for key in _OF_SUBMISSION} for said in one.submissions]}
            for one in self.known.attempts.attempts
        ]
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "name": self.name,
            "date": self.date,
            "course": self.course,
            "progress": {"version": VERSION, **asdict(self.known.progress)},
            "attempts": attempts,
        }


def own_export(name: str = "", warn: Callable[[str], None] = lambda text: None) -> Export:
    """Return this user's progress. name: by default the login name. warn: gets a message if a file is damaged.

    Raises ArgumentError for an invalid name, or if the progress cannot be read.
    """
    called = " ".join((name or getpass.getuser()).split())
    if not called or len(called) > _LONGEST_NAME or not called.isprintable():
        raise ArgumentError(f"a name has 1 to {_LONGEST_NAME} characters that can be printed", where=repr(name))
    known = Learned(default_progress(warn).read(), default_attempt_file(time.time).read())
    now = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    return Export(called, now, __version__, known)


def default_file(name: str) -> Path:
    """Return the default path of an export: ``progress-ada.json`` in the current folder."""
    plain = re.sub(r"[^\w-]+", "_", name)
    return Path(f"progress-{plain}.json")


def write_export(export: Export, path: Path) -> None:
    """Write the export to ``path``, over an older export.

    Raises ArgumentError if a file at ``path`` is no export, or if ``path`` cannot be written.
    """
    if path.exists():
        try:
            read_export(path)
        except ValueError as error:
            raise ArgumentError("another file with this name exists, and it is no export", where=str(path)) from error
    try:
        write_atomically(path, (json.dumps(export.record(), indent=1, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise ArgumentError(f"the export cannot be written: {error.strerror}", where=str(path)) from error


def read_export(path: Path) -> Export:
    """Return the export in a file. Raises ValueError that says why the file cannot be read or is no export.

    The file may have any content, because a learner hands it in.
    """
    try:
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(opened, "rb") as file:
            if not path.is_file():
                raise ValueError("it is no regular file")
            text = file.read(_LARGEST + 1)
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror}") from error
    if len(text) > _LARGEST:
        raise ValueError(f"it has more than {_LARGEST >> 20} MiB")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is damaged: no JSON ({error})") from error
    return _export(data)


def _export(data: Any) -> Export:
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        own = isinstance(data, Mapping) and {"passed", "hints"} <= data.keys()
        said = "it is a learner's own file: gnt progress export makes the one to hand in" if own else "it is no export"
        raise ValueError(said)
    if data.get("version") != FORMAT_VERSION:
        raise ValueError(f"another version of the course made it (format {data.get('version')!r})")
    try:
        known = Learned(progress_of(data["progress"]), attempts_of(data["attempts"]))
        _use(known.attempts)
        name, date, course = (str(data[key]) for key in ("name", "date", "course"))
        datetime.datetime.fromisoformat(date)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        raise ValueError(f"it is damaged: {error!r}") from error
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise ValueError("its name is empty, too long, or cannot be printed")
    return Export(name, date, course, known)


def _use(attempts: Attempts) -> None:
    """Raise KeyError, TypeError or ValueError if a value that the class report needs is missing or wrong."""
    for one in attempts.attempts:
        for said in one.submissions:
            if not 0 <= float(said["points"]) <= 100 or not isinstance(said["accepted"], bool):
                raise ValueError(f"points of a submission: {said['points']!r}")
            bool(said["late"])
