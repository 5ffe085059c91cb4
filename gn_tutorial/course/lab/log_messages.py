"""Messages for lines of the log of JupyterLab's server. A line that a learner need not know has no message."""

from __future__ import annotations

import hashlib
import json
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: The beginning of the message that ``restarter`` logs, after the log's level, time and source.
MARK = "gnt-kernel "
_LINE = re.compile(r"\[([DIWEC]) [\d:. -]+ (\w+)\] (.*)")
_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
_LAST = 6  # lines that are shown of a log that ended early


@dataclass(frozen=True)
class Death:
    """A kernel that died. code: its exit code, negative for a signal; None if it is not known.

    final: whether the server does not start it again.
    """

    notebook: Path
    code: int | None
    final: bool

    @property
    def cause(self) -> str:
        """The cause of death, as far as the exit code shows it."""
        if self.code is None:
            return "it ended without a word"
        if self.code == -signal.SIGKILL:
            return "the system ended it, most often because memory ran out; smaller arrays help"
        if -self.code in _CRASHES:
            name = signal.Signals(-self.code).name
            return f"it crashed ({name}); a kernel launched with in_process=True can do that, an isolated one cannot"
        return f"it ended with the exit code {self.code}"

    def lines(self) -> list[str]:
        """Return the lines to show for this death."""
        if self.final:
            return [
                f"the Python of {self.notebook.name} died several times in a row: {self.cause}.",
                "JupyterLab does not start it again by itself. gnt doctor, in a terminal, may say what is wrong here.",
            ]
        return [
            f"the Python of {self.notebook.name} died: {self.cause}.",
            "There is a new one, which knows nothing of what was run before: Run > Run All Above Selected Cell",
            "brings you back to where you were. Nothing that you wrote is lost.",
        ]

    def note(self, folder: Path) -> None:
        """Write the lines on this death to a file for the next kernel of the notebook."""
        folder.mkdir(exist_ok=True)
        _note_file(folder, self.notebook).write_text("\n".join(self.lines()), encoding="utf-8")


def take_note(folder: Path, notebook: Path) -> list[str]:
    """Return and remove the lines that ``Death.note`` wrote about the notebook's last kernel; none without a file."""
    try:
        text = _note_file(folder, notebook).read_text(encoding="utf-8")
        _note_file(folder, notebook).unlink()
    except OSError:
        return []
    return text.splitlines()


def _note_file(folder: Path, notebook: Path) -> Path:
    return folder / hashlib.sha256(str(notebook).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def death_in(line: str) -> Death | None:
    """Return the death that a line of the log reports, or None."""
    found = _LINE.match(line)
    if not found or not found[3].startswith(MARK):
        return None
    facts = json.loads(found[3].removeprefix(MARK))
    return Death(Path(facts["notebook"] or "a notebook"), facts["code"], facts["event"] == "dead")


def in_our_words(line: str) -> list[str]:
    """Return the message for a line of the log that reports no death; none for most lines."""
    if "No module named ipykernel" in line:
        return ["the package ipykernel is missing, without which no notebook runs: python -m pip install ipykernel"]
    if "No space left on device" in line or "Disk quota exceeded" in line:
        return ["the disk is full, so that notebooks cannot be saved: free some space, then save again (Ctrl+S)"]
    found = _LINE.match(line)
    if found and found[1] in "WEC" and "Permission denied" in line:
        return [f"JupyterLab may not write a file: {found[3]}"]
    return []


def ended_early(code: int, log: Sequence[str], path: Path) -> str:
    """Return a text with the exit code and the last lines of the log of a server that ended by itself."""
    last = "\n".join(f"  {line}" for line in log[-_LAST:])
    return f"its last lines ({path}, exit code {code}):\n{last}"
