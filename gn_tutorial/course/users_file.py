"""One JSON file of a user, which a terminal and a notebook may change at once: progress, theory paper, attempts."""

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
    """A JSON file. name, refusal: for messages, as "the progress file" and "cannot be used". version: its format's."""

    path: Path
    name: str
    refusal: str
    version: int

    def load(self, shape: type[_Kept], advice: str) -> _Kept | None:
        """Return the file's contents as that dataclass; None if there is no file. Keys of a newer version are ignored.

        Raises ArgumentError if it cannot be read; if it is damaged, the error has ``advice``. The file is kept.
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
        """Lock the file, and write the dataclass that ``made`` returns; ``made`` may read the file.

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
        """Give a file that cannot be read another name, and return it."""
        names = (self.path.with_name(f"{self.path.stem}.damaged{number}.json") for number in itertools.count(1))
        return self.path.replace(next(name for name in names if not name.exists()))

    def unusable(self, error: OSError) -> ArgumentError:
        """Return the error for a file that cannot be read or written."""
        return ArgumentError(
            f"{self.name} {self.refusal}: {error.strerror}",
            where=str(self.path),
            hint="set GNT_DATA_DIR to a folder that you can write to",
        )
