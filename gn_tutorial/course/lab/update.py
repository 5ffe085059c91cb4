"""Updates the learner's copies to the installed course, and never loses what the learner wrote.

A copy counts as touched if the text of a cell differs from what we wrote; outputs do not count. An untouched copy is
replaced. A touched copy stays, and the new notebook is put beside it, once.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import filelock

from gn_tutorial.course.atomic_write import write_atomically
from gn_tutorial.course.lab import notebook
from gn_tutorial.course.lab.in_language import in_language
from gn_tutorial.errors import ArgumentError, RegistryError

_LOCK_SECONDS = 20.0
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class News:
    """The change to one notebook's copy.

    Kinds: "copied": there was no copy, or on request an untouched one was made anew. "updated": the untouched copy was
    replaced. "kept": the touched copy stays, and the new one is ``beside`` it. "set aside": on request, the touched
    copy is now ``beside`` the new one. "gone": the course no longer has the notebook, and the untouched copy was
    removed. "left": the course no longer has it, but the touched copy stays. sections: headings of changed sections.
    """

    kind: Literal["copied", "updated", "kept", "set aside", "gone", "left"]
    name: str
    sections: tuple[str, ...] = ()
    beside: str = ""


class Copies:
    """The copies in ``folder`` of the notebooks in ``course``. manifest: the file that lists their origins."""

    def __init__(self, folder: Path, course: Path, manifest: Path, version: str) -> None:
        self.folder, self.course, self.version = folder, course, version
        self._manifest = manifest
        self._sign: Callable[[notebook.Contents], None] = _signer()

    def update(self) -> list[News]:
        """Make or update every copy, and return what changed.

        Raises ArgumentError if the folder cannot be used, or if another gnt lab is writing the copies; RegistryError if
        a notebook of the course cannot be read.
        """
        return self._locked(self._update_all)

    def anew(self, name: str) -> News:
        """Put the course's notebook back; a touched copy is kept beside it. Raises as ``update`` does."""

        def start_again(known: dict[str, Copy]) -> News:
            beside = ""
            if (self.folder / name).exists() and self._touched(name, known):
                beside = self._free(name, "mine", known)
                (self.folder / name).replace(self.folder / beside)
            self._write(name, name, known)
            return News("set aside" if beside else "copied", name, beside=beside)

        return self._locked(start_again)

    def drop_widgets(self) -> None:
        """Remove widgets of ended kernels from the copies, which no server may have open. Raises as ``update`` does."""

        def drop(known: dict[str, Copy]) -> None:
            for name in known:
                path = self.folder / name
                if not path.exists():
                    continue
                try:
                    contents = notebook.read(path)
                except RegistryError:  # JupyterLab says what is wrong with it
                    continue
                if notebook.drop_widgets(contents):
                    write_atomically(path, notebook.encode(contents))
                    self._sign(contents)

        self._locked(drop)

    def _locked(self, work: Callable[[dict[str, Copy]], _Result]) -> _Result:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._manifest.parent.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self._manifest.with_suffix(".lock"), timeout=_LOCK_SECONDS):
                known = read_manifest(self._manifest)
                result = work(known)
                write_manifest(self._manifest, known)
        except filelock.Timeout as error:
            raise ArgumentError("another gnt lab is writing the copies", where=str(self.folder)) from error
        except OSError as error:
            raise ArgumentError(
                f"the copies of the notebooks cannot be written: {error.strerror}",
                where=str(error.filename or self.folder),
                hint="gnt lab --folder DIR, or GNT_COURSE_DIR, names another folder",
            ) from error
        return result

    def _update_all(self, known: dict[str, Copy]) -> list[News]:
        names = [path.name for path in sorted(self.course.glob("*.ipynb"))]
        found = [self._update(name, known) for name in names]
        gone = [name for name in known if name not in names and not _is_beside(name, names)]
        found += [self._forget(name, known) for name in gone]
        return [one for one in found if one]

    def _update(self, name: str, known: dict[str, Copy]) -> News | None:
        path, wanted = self.folder / name, in_language(notebook.read(self.course / name))
        made_from = notebook.digest(notebook.fingerprints(wanted))
        before = known.get(name, Copy())
        if not path.exists():
            self._write(name, name, known)
            return News("copied", name)
        mine = _digest_of(path)
        if mine == made_from:
            if before.made_from != made_from:  # the copy's text is the present one, even if the learner wrote it
                known[name] = Copy(made_from, _sum(path.read_bytes()), notebook.fingerprints(wanted))
            elif _sum(path.read_bytes()) == before.written:  # the learner never saved it: update the outputs too
                self._write(name, name, known)
            return None
        sections = notebook.news(before.cells, wanted) if before.cells else ()
        if before.made_from and mine == before.made_from:
            self._write(name, name, known)
            return News("updated", name, sections)
        if made_from in (before.made_from, before.offered):
            return None
        beside = self._free(name, "new", known)
        self._write(name, beside, known)
        known[name] = replace(before, offered=made_from)
        return News("kept", name, sections, beside)

    def _forget(self, name: str, known: dict[str, Copy]) -> News | None:
        there, touched = (self.folder / name).exists(), self._touched(name, known)
        del known[name]
        if not there:
            return None
        if touched:
            return News("left", name)
        (self.folder / name).unlink()
        return News("gone", name)

    def _touched(self, name: str, known: Mapping[str, Copy]) -> bool:
        ours = known.get(name, Copy()).made_from
        return not ours or _digest_of(self.folder / name) != ours

    def _free(self, name: str, word: str, known: Mapping[str, Copy]) -> str:
        """Return a name like ``04_tiling.new.ipynb`` of no file, or of an untouched copy, which may be replaced."""
        stem = name.removesuffix(".ipynb")
        numbers = itertools.chain([""], itertools.count(2))
        names = (f"{stem}.{word}{number}.ipynb" for number in numbers)
        return next(one for one in names if not (self.folder / one).exists() or not self._touched(one, known))

    def _write(self, source: str, name: str, known: dict[str, Copy]) -> None:
        made = notebook.learners_copy(notebook.read(self.course / source), source, self.version)
        data, marks = notebook.encode(made), notebook.fingerprints(made)
        path = self.folder / name
        if not path.exists() or path.read_bytes() != data:
            write_atomically(path, data)
            self._sign(made)
        known[name] = Copy(notebook.digest(marks), _sum(data), marks)


def _is_beside(name: str, names: list[str]) -> bool:
    """Whether a name like ``04_tiling.new2.ipynb`` belongs to a notebook that the course has."""
    return f"{name.partition('.')[0]}.ipynb" in names


def _digest_of(path: Path) -> str:
    """Return the digest of a copy; "" for a file that is no notebook, so that it counts as touched."""
    try:
        return notebook.digest(notebook.fingerprints(notebook.read(path)))
    except RegistryError:
        return ""


def _sum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _signer() -> Callable[[notebook.Contents], None]:
    """Return a function that signs a copy, as Jupyter signs notebooks that its user ran, so that outputs show fully.

    Without a signature JupyterLab removes colours and drawings until the notebook is run. If nbformat is missing, or
    cannot write its database, copies stay unsigned and work.
    """
    try:
        import nbformat
        from nbformat.sign import NotebookNotary
    except ImportError:
        return lambda contents: None
    notary = NotebookNotary()

    def sign(contents: notebook.Contents) -> None:
        try:
            notary.sign(nbformat.from_dict(contents))
        except Exception:  # such as a full disk or a locked database: not worth a message to the learner
            return

    return sign


_FORMAT = 1


@dataclass(frozen=True)
class Copy:
    """One copy. made_from: digest of the course's notebook, "" for a file that we did not make.

    written: sha256 of the bytes that we wrote, or "". cells: fingerprints of the cells that we wrote. offered: the
    digest of a newer notebook that was put beside this copy, so that each version is put there once.
    """

    made_from: str = ""
    written: str = ""
    cells: dict[str, str] = field(default_factory=dict)
    offered: str = ""


def read_manifest(path: Path) -> dict[str, Copy]:
    """Return file name -> Copy; an empty dict for a manifest that is missing, damaged or of another format.

    Without a manifest a copy counts as the learner's work unless it equals the course's present notebook. So a file
    may be kept needlessly, but the learner's work is never lost.
    """
    try:
        data: Any = json.loads(path.read_bytes())
        if data["format"] != _FORMAT:
            return {}
        return {str(name): _copy(table) for name, table in data["copies"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def write_manifest(path: Path, copies: dict[str, Copy]) -> None:
    """Write the manifest of all copies. Raises OSError."""
    data = {"format": _FORMAT, "copies": {name: asdict(copy) for name, copy in sorted(copies.items())}}
    write_atomically(path, (json.dumps(data, indent=1) + "\n").encode())


def _copy(table: dict[str, Any]) -> Copy:
    texts = {name: str(table[name]) for name in ("made_from", "written", "offered")}
    return Copy(**texts, cells={str(key): str(value) for key, value in table["cells"].items()})
