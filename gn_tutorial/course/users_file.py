"""Reads and writes a user's JSON files (progress, paper, attempts), which several processes may change at one time."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import filelock
import msgspec

from gn_tutorial.course.atomic_write import write_atomically
from gn_tutorial.errors import ArgumentError

_LOCK_SECONDS = 20.0
_Kept = TypeVar("_Kept")


@dataclass(frozen=True)
class UsersFile:
    """A user's JSON file. version: the version of the format, which is written into the file.

    name, refusal: the two parts of an error message, such as ``the progress file`` and ``cannot be used``.
    """

    path: Path
    name: str
    refusal: str
    version: int

    def load(self, shape: type[_Kept], advice: str) -> _Kept | None:
        """Return the file's content as the dataclass ``shape``; None without a file. Ignores unknown keys.

        Raises ArgumentError if the file cannot be read or is damaged. A damaged file stays in place, and the error's
        hint is then ``advice``.
        """
        try:
            return msgspec.convert(json.loads(self.path.read_bytes()), shape)
        except FileNotFoundError:
            return None
        except (ValueError, msgspec.ValidationError) as error:
            what = f"{self.name} cannot be read: {error!r}"
            raise ArgumentError(what, where=str(self.path), hint=advice) from error
        except OSError as error:
            raise self.unusable(error) from error

    def store(self, made: Callable[[], _Kept]) -> _Kept:
        """Call ``made`` and write the dataclass that it returns; return it. A lock keeps other processes out meanwhile.

        Raises ArgumentError if the folder cannot be used, or if another process keeps the lock for 20 s.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self.path.with_suffix(".lock"), timeout=_LOCK_SECONDS):
                kept = made()
                data = {"version": self.version, **asdict(kept)}  # type: ignore[call-overload]
                write_atomically(self.path, (json.dumps(data, indent=2) + "\n").encode())
        except filelock.Timeout as error:
            raise ArgumentError(f"another program holds {self.name}", where=str(self.path)) from error
        except OSError as error:
            raise self.unusable(error) from error
        return kept

    def set_aside(self) -> Path:
        """Rename the damaged file, and return its new path."""
        names = (self.path.with_name(f"{self.path.stem}.damaged{number}.json") for number in itertools.count(1))
        return self.path.replace(next(name for name in names if not name.exists()))

    def unusable(self, error: OSError) -> ArgumentError:
        """Return the error to raise if the file cannot be read or written."""
        return ArgumentError(
            f"{self.name} {self.refusal}: {error.strerror}",
            where=str(self.path),
            hint="set GNT_DATA_DIR to a folder that you can write to",
        )
