"""A user's JSON file, which a terminal and a notebook may change at the same time: progress, theory paper, attempts."""

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
    """A user's JSON file. version: of the format that is written.

    name, refusal: the parts of a message, as in ``the progress file`` ``cannot be used``.
    """

    path: Path
    name: str
    refusal: str
    version: int

    def load(self, shape: type[_Kept], advice: str) -> _Kept | None:
        """Return the file's content as the dataclass ``shape``; None without a file. Ignores keys of a newer version.

        Raises ArgumentError if the file cannot be read, with this advice if it is damaged. A damaged file stays.
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
        """Write the dataclass that ``made`` returns. A lock keeps others from changing the file meanwhile.

        Raises ArgumentError if the folder cannot be used.
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
        """Rename a file that cannot be read, and return its new path."""
        names = (self.path.with_name(f"{self.path.stem}.damaged{number}.json") for number in itertools.count(1))
        return self.path.replace(next(name for name in names if not name.exists()))

    def unusable(self, error: OSError) -> ArgumentError:
        """Return the error to raise if the file cannot be read or written."""
        return ArgumentError(
            f"{self.name} {self.refusal}: {error.strerror}",
            where=str(self.path),
            hint="set GNT_DATA_DIR to a folder that you can write to",
        )
