"""The folder that JupyterLab opens: copies of the notebooks, and links to the folders that the notebooks refer to.

::

    my_course/ notebooks/       the learner's copies
               my_exercises/    a link to the folder of the learner's exercises (gnt learn)
               docs/ kernels/   links to the course's pages and kernels; also tests/programs, which the pages name
               .gnt/            gnt's files: the manifest of the copies, the log of JupyterLab, notes on dead kernels
               .gitignore       everything

So a link in a notebook, ``../docs/timing-model.md``, leads to the same place as in a clone. The folder is ``my_course``
in a clone, ``gn_course`` in the home folder for an installed package, and ``$GNT_COURSE_DIR`` if that is set.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.course.exercises import workspace
from gn_tutorial.errors import ArgumentError
from gn_tutorial.toml_file import course_folder, learners_folder

_ANOTHER = "gnt lab --folder DIR, or GNT_COURSE_DIR, names another folder"


def notebooks_root() -> Path:
    """Return the folder of the course's notebooks. Raises RegistryError if it is missing."""
    return course_folder("notebooks", "*.ipynb")


def default_folder() -> Path:
    """Return the default folder of the learner's course."""
    return learners_folder("GNT_COURSE_DIR", notebooks_root(), "my_course", "gn_course")


@dataclass(frozen=True)
class CourseFolder:
    """The folder of one learner's course; ``root`` is absolute."""

    root: Path

    @property
    def notebooks(self) -> Path:
        """The folder of the learner's copies of the notebooks."""
        return self.root / "notebooks"

    @property
    def exercises(self) -> Path:
        """The link to the folder of the learner's exercises. Links in notebooks go through it."""
        return self.root / "my_exercises"

    @property
    def state(self) -> Path:
        """The folder of gnt's files."""
        return self.root / ".gnt"

    @property
    def deaths(self) -> Path:
        """The folder of notes on Jupyter kernels that died. The next kernel of the same notebook shows the note."""
        return self.state / "deaths"

    def prepare(self) -> list[str]:
        """Make the folder and its links; return the names of the links that could not be made.

        Raises ArgumentError if the folder cannot be written, is a file, or has files but none of gnt's: the new
        .gitignore hides everything in the folder from git, which must not happen to a user's other project. Raises
        RegistryError if a folder of the course is missing.
        """
        if self.root.exists() and not self.state.is_dir() and (not self.root.is_dir() or any(self.root.iterdir())):
            raise ArgumentError(
                "the folder of the course has to be a new or an empty one", where=str(self.root), hint=_ANOTHER
            )
        try:
            self.state.mkdir(parents=True, exist_ok=True)
            ignore = self.root / ".gitignore"
            if not ignore.exists():
                ignore.write_text("# what gnt lab makes and a learner writes: git need not know\n*\n")
            exercises = workspace.default_folder()
            exercises.mkdir(parents=True, exist_ok=True)
            links = {"my_exercises": exercises, "docs": course_folder("docs", "*.md")}
            links |= {"kernels": course_folder("kernels", "*/op.toml")}
            links |= {"tests/programs": course_folder("tests", "programs/*/*") / "programs"}
            return [name for name, target in links.items() if not self._link(name, target)]
        except OSError as error:
            raise ArgumentError(
                f"the folder of the course cannot be written: {error.strerror}",
                where=str(error.filename or self.root),
                hint=_ANOTHER,
            ) from error

    def _link(self, name: str, target: Path) -> bool:
        """Link the name to the target; return whether the name leads to it. A real folder or a right link stays."""
        place = self.root / name
        place.parent.mkdir(exist_ok=True)
        if place.is_symlink():
            if place.resolve() == target.resolve():
                return True
            place.unlink()  # the clone was moved, or another Python has the package now
        if place.exists():
            return place.resolve() == target.resolve()
        try:
            place.symlink_to(target.resolve(), target_is_directory=True)
        except OSError:
            return False
        return True
