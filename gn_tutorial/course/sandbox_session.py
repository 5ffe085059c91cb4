"""Runs commands of ``gnt`` on a "desk": a temporary folder with its own progress, exercises and exam.

A notebook that shows commands must leave the reader's progress, exercises and attempts alone, and print the same on
every computer. The folder and its files are deleted with the ``Desk`` object.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gn_tutorial.errors import ArgumentError

#: Environment variable that names one of a learner's folders -> the folder on the desk.
_FOLDERS = {"GNT_DATA_DIR": "data", "GNT_EXERCISES_DIR": "my_exercises", "GNT_EXAM_DIR": "my_exam"}
#: The width of printed lines. A learner's code has the same width, so that a picture or a page has room beside it.
_COLUMNS = "88"
#: Variables that a Jupyter kernel sets: the notebook's path, and whether programs that the kernel starts print colours.
_OF_A_KERNEL = {"JPY_SESSION_NAME", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"}
_SIGN_OF_LIFE = re.compile(r"^gnt: .* \.\.\.\n", re.MULTILINE)
#: Texts that differ from run to run (times of the day, minutes gone), each with the text shown instead.
_TIMES = (
    (re.compile(r"\b(?:\d{4}-\d\d-\d\d )?\d\d:\d\d\b"), "hh:mm"),
    (re.compile(r"\b\d+ min ago\b"), "... min ago"),
    (re.compile(r"\bafter \d+ min\b"), "after ... min"),
    (re.compile(r"\b\d+ of (\d+) min are left\b"), r"... of \1 min are left"),
)


class Desk:
    """A temporary folder. ``run`` runs a command in it; ``write`` and ``replace`` change one of its files."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gnt-desk-")).resolve()
        self._places = {name: str(self.folder / place) for name, place in _FOLDERS.items()}
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def run(self, command: str, *, inside: str = ".", only: str = "", code: int = 0) -> None:
        """Run a command; print it and its output, without the desk's own path and with texts of ``_TIMES`` for times.

        inside: the folder in which the command runs. only: a regular expression; three dots replace the lines that it
        does not match. code: the expected exit code. Raises ArgumentError for a command that is not ``gnt``, and for
        another exit code; then the message has the whole output.
        """
        words = shlex.split(command)
        if words[:1] != ["gnt"]:
            raise ArgumentError(f"'{command}' is no command of gnt", hint='such as desk.run("gnt exam list")')
        ran = subprocess.run(
            [sys.executable, "-m", "gn_tutorial", *words[1:]],
            cwd=self.folder / inside,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        said = self._same_everywhere(ran.stdout)
        if ran.returncode:  # otherwise standard error has only progress messages ("gnt: ... ...")
            said += self._same_everywhere(_SIGN_OF_LIFE.sub("", ran.stderr))
        if ran.returncode != code:
            raise ArgumentError(f"'{command}' ended with {ran.returncode}, not {code}:\n{said}")
        print(f"$ {command}", *_lines(said, only), sep="\n")

    def write(self, file: str, text: str) -> None:
        """Write ``text`` as the whole content of a file; create the file and its folders if they are missing."""
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def replace(self, file: str, start: str, text: str, end: str = "") -> None:
        """Replace lines by ``text``: from the first line that contains ``start`` to the next line equal to ``end``.

        Without ``end`` only the first line is replaced. Raises ArgumentError if one of the two lines is missing.
        """
        path = self.folder / file
        lines = path.read_text(encoding="utf-8").splitlines()
        first = next((number for number, line in enumerate(lines) if start in line), None)
        if first is None:
            raise ArgumentError(f"{file} has no line with {start!r}")
        last = next((number for number in range(first, len(lines)) if not end or lines[number] == end), None)
        if last is None:
            raise ArgumentError(f"{file} has no line {end!r} after line {first + 1}")
        lines[first : last + 1] = text.strip("\n").splitlines()
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    @contextmanager
    def learner(self) -> Iterator[None]:
        """Set this process's variables for a learner's folders to the desk's folders while the context lasts."""
        before = {name: os.environ.get(name) for name in _FOLDERS}
        os.environ.update(self._places)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value

    def _environment(self) -> dict[str, str]:
        package = str(Path(__file__).resolve().parents[2])  # where this package is
        around = {name: value for name, value in os.environ.items() if name not in _OF_A_KERNEL}
        path = os.pathsep.join(filter(None, (package, around.get("PYTHONPATH"))))
        return around | self._places | {"COLUMNS": _COLUMNS, "NO_COLOR": "1", "PYTHONPATH": path}

    def _same_everywhere(self, text: str) -> str:
        text = text.replace(f"{self.folder}/", "").replace(str(self.folder), ".")
        for pattern, same in _TIMES:
            text = pattern.sub(same, text)
        return text


def _lines(text: str, only: str) -> list[str]:
    """Return the lines that match ``only``, without trailing spaces, and "..." in place of each run of other lines."""
    found: list[str] = []
    for line in text.rstrip().splitlines():
        if re.search(only, line):
            found.append(line.rstrip())
        elif found[-1:] != ["..."]:
            found.append("...")
    return found
