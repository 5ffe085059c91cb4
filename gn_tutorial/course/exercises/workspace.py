"""The learner's own files. Learners work on copies of the exercises, even in a clone.

So ``reset`` still has the stub, ``git pull`` brings new exercises without a conflict, and the files that CI checks stay
as they were. The folder is ``my_exercises`` beside ``exercises`` in a clone, ``gn_exercises`` in the home folder for an
installed package, and ``$GNT_EXERCISES_DIR`` if that is set.
"""

from __future__ import annotations

import itertools
import shutil
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.course.atomic_write import write_atomically
from gn_tutorial.course.exercises.registry import Exercise, exercises_root
from gn_tutorial.course.migrations import former_files, renumbered
from gn_tutorial.errors import ArgumentError
from gn_tutorial.toml_file import learners_folder


def default_folder() -> Path:
    """Return the folder of the learner's files."""
    return learners_folder("GNT_EXERCISES_DIR", exercises_root(), "my_exercises", "gn_exercises")


@dataclass(frozen=True)
class Workspace:
    """One learner's folder, with the same layout as ``exercises``."""

    folder: Path

    def path(self, exercise: Exercise) -> Path:
        """Return the path of the learner's file, which may be missing.

        A file under a former number of the exercise is moved there. Raises ArgumentError if it cannot be written.
        """
        path = self.folder / exercise.file
        for former in () if path.exists() else former_files(exercise.file):
            old = self.folder / former
            if old.is_file():
                text = old.read_text(encoding="utf-8", errors="surrogateescape")
                self._write(path, renumbered(text, former, exercise.file))
                old.unlink()
                break
        return path

    def untouched(self, exercise: Exercise) -> bool:
        """Whether there is nothing to check: there is no copy yet, or it is still equal to the stub."""
        path = self.path(exercise)
        return not path.is_file() or path.read_bytes() == exercise.stub.read_bytes()

    def prepare(self, exercise: Exercise) -> Path:
        """Return the learner's file; copy the stub if there is none. Raises ArgumentError if it cannot be written."""
        path = self.path(exercise)
        if not path.exists():
            self._write(path, exercise.stub.read_text(encoding="utf-8"))
        return path

    def reset(self, exercise: Exercise) -> Path | None:
        """Put the stub back, and return the path of the backup of the learner's file.

        Return None if there was no file or it was still the stub. Raises ArgumentError if the stub cannot be written.
        """
        path = self.path(exercise)
        backup = None
        if not self.untouched(exercise):
            names = (path.with_name(f"{path.name}.backup{number}") for number in itertools.count(1))
            backup = next(name for name in names if not name.exists())
            shutil.copyfile(path, backup)
        self._write(path, exercise.stub.read_text(encoding="utf-8"))
        return backup

    def _write(self, path: Path, text: str) -> None:
        try:
            write_atomically(path, text.encode("utf-8", errors="surrogateescape"))
        except OSError as error:
            raise ArgumentError(
                f"cannot write the exercise's file: {error.strerror}",
                where=str(path),
                hint="set GNT_EXERCISES_DIR to a folder that you can write to",
            ) from error


def default_workspace() -> Workspace:
    """Return the workspace of this user."""
    return Workspace(default_folder())
