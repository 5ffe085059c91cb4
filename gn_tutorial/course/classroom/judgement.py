"""The judgement on one text, as data, and the file that keeps judgements while a class is judged.

Each judgement is a line, written as soon as it is made. So a run that is killed loses only the texts being judged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from gn_tutorial.errors import ArgumentError

#: right, wrong: the judge's verdict. stopped: the text reached its time limit. undecided: the judge failed.
STATES = ("right", "wrong", "stopped", "undecided")


@dataclass(frozen=True)
class Finding:
    """One fault of a text. points: the points that it costs in a task. case: the input that shows it."""

    what: str
    where: str = ""
    case: str = ""
    read: str = ""
    points: float = 0.0
    detail: str = ""


@dataclass(frozen=True)
class Judgement:
    """The judgement on one text. of: the points that can be earned, 100 for a task and 1 for an exercise.

    seconds: the elapsed time of judging. limit: the time limit in seconds. version: of the package that judged.
    """

    digest: str
    status: str
    points: float
    of: float
    findings: tuple[Finding, ...]
    seconds: float
    limit: float
    version: str

    def stands(self, version: str, limit: float) -> bool:
        """Whether the judgement is still valid for this version and this limit."""
        if self.version != version or self.status == "undecided":
            return False
        return self.status != "stopped" or limit <= self.limit


def from_record(record: Any) -> Judgement:
    """Return a judgement from plain data. Raises ValueError, TypeError or KeyError for anything else."""
    known = {**record, "findings": tuple(Finding(**one) for one in record["findings"])}
    made = Judgement(**known)
    if made.status not in STATES:
        raise ValueError(f"no state of a judgement: {made.status!r}")
    return made


class JudgementFile:
    """The file ``judgements.jsonl``, a line for each judgement. If a text has several lines, the last one counts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, version: str, limit: float) -> dict[str, Judgement]:
        """Return digest -> judgement for the judgements that are still valid. A last line that was cut off is ignored.

        Raises ArgumentError if another line is no judgement, or if the file cannot be read.
        """
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ArgumentError(f"the judgements cannot be read: {error.strerror}", where=str(self.path)) from error
        found: dict[str, Judgement] = {}
        for number, line in enumerate(lines[:-1], 1):
            try:
                one = from_record(json.loads(line))
            except (ValueError, TypeError, KeyError) as error:
                what = f"line {number} is no judgement: {error!r}"
                hint = "name another folder with --results; or rename the file, then everything is judged again"
                raise ArgumentError(what, where=str(self.path), hint=hint) from error
            found[one.digest] = one
        return {digest: one for digest, one in found.items() if one.stands(version, limit)}

    def open(self) -> Writer:
        """Open the file to append. An incomplete last line is removed first, so that the next one starts a new line."""
        file = self.path.open("ab+")
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
        return Writer(file)

    def clear(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)


class Writer:
    """Writes judgements to the file; they are on the disk when ``write`` returns. A context manager."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, found: Iterable[Judgement]) -> None:
        """Add judgements to the file."""
        for one in found:
            self._file.write(json.dumps(asdict(one)).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
