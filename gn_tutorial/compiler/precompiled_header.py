"""The twin's headers as a precompiled header. g++ makes it once for all kernels with the same flags.

The cache keeps it like a library.

Reading the headers takes a third of g++'s time for an exercise. Generating code for their inline functions, the same in
each kernel, takes another third. So the headers of observed kernels are precompiled as the interface of another file
(``#pragma interface`` in GCC's manual). Then g++ generates no code for those inline functions that are not templates.
Of the templates, at -Og, the instances that most kernels use are declared ``extern``
(``gn_twin/basic_api/compiled_once.h``). An object with the code of these functions and instances is linked in instead.

g++ first looks in the folder of the file that it compiles, and there for ``kernel_operator.h.gch`` before
``kernel_operator.h``. So it is enough to put a link to the cache's entry into that folder. g++ silently refuses a
precompiled header that does not match, and then reads the headers. If a compilation with the precompiled header fails,
the build compiles again without it (``build_request``). So the error messages never depend on the precompiled header.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gn_tutorial.compiler.cache import Cache
from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.compiler.dependencies import Dependencies, must_stay_absent
from gn_tutorial.errors import GntError

#: The suffix that g++ requires for a precompiled header.
SUFFIX = ".gch"
_NOTE = ".note"


@dataclass(frozen=True)
class Ready:
    """A precompiled header that matches the current headers: its file, and the files it was made of.

    objects: the object files with the code of its inline functions. The build links them in.
    """

    path: Path
    made_of: Dependencies
    objects: tuple[Path, ...]


class Job(Protocol):
    """The part of BuildRequest that makes a precompiled header or its object.

    It is a protocol because this module cannot import BuildRequest: ``build_request`` imports this module.
    """

    @property
    def cache(self) -> Cache:
        """The cache that keeps the made file."""

    @property
    def key(self) -> str:
        """Return the key of the request."""

    def look_up(self) -> tuple[Path, Dependencies] | None:
        """Return the file and the files it was made of; None if it is absent or one of these files has changed."""

    def make(self) -> tuple[Path, Dependencies | None, bool]:
        """Make the file unless it exists; return it, the files it was made of, and whether it existed.

        Instead of the files it was made of, return None if one of them was saved meanwhile.
        """


def interface_marks(headers: Iterable[Path]) -> str:
    """Return marks that make g++ leave the inline functions of these headers to another translation unit.

    g++ identifies a file by the name that ``#line`` gives. Marks inside a precompiled header apply only to the headers
    in it. Marks for headers that are included later must stand after the precompiled header.
    """
    return "".join(f'#line 1 "{one}"\n#pragma interface\n' for one in headers)


#: The flag that makes g++ compile every inline function. The object for headers with ``interface_marks`` needs it.
KEEP_INLINES = "-fkeep-inline-functions"


@dataclass(frozen=True)
class Precompiled:
    """A header that a source includes before anything else, and the request ``job`` for its precompiled form.

    inlines: the request for the object that has the header's inline functions; None if each source compiles them.
    """

    header: str
    job: Job
    inlines: Job | None = None

    def ready(self, search: Sequence[Path]) -> Ready | None:
        """Return the precompiled header for a compilation with these include folders; None if there is none to use.

        The header is made at the second request, because making it takes as long as it saves in four kernels. So the
        header costs no time and no space in a cache that is used once, such as that of a test or a container.
        """
        jobs = [self.job, *([self.inlines] if self.inlines else [])]
        try:
            made = [job.look_up() for job in jobs]
            if None in made:
                if not self._noted("wanted", self.job.key):
                    self._note("wanted", self.job.key)
                    return None
                made = [(path, files) for path, files, _ in (job.make() for job in jobs) if files]
            found = [one for one in made if one]
            if len(found) < len(jobs) or self._noted("useless", found[0][0].name):
                return None
        except GntError:  # the compilation without the header reports a full disk or an error in a header better
            return None
        (path, made_of), *objects = found
        # A learner's header with the name of one of the twin's headers would be found first. With the precompiled
        # header g++ would not look for it.
        first = must_stay_absent([file.path for file in made_of.files], search)
        if any(os.path.lexists(one) for one in first):
            return None
        return Ready(path, made_of, tuple(one for one, _ in objects))

    @contextlib.contextmanager
    def offered(self, ready: Ready, folder: Path) -> Iterator[None]:
        """Link the precompiled header to the place where g++ looks first when it compiles a file in ``folder``."""
        link = folder / (self.header + SUFFIX)
        with contextlib.suppress(OSError):  # on a file system without links, g++ reads the headers
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(ready.path)
        try:
            yield
        finally:
            link.unlink(missing_ok=True)

    def give_up(self, ready: Ready) -> None:
        """Record that a compilation failed with the header and succeeded without, so that it is not used again."""
        with contextlib.suppress(GntError):
            self._note("useless", ready.path.name)

    # Facts about a header are recorded as empty entries of the cache, so that all processes know them.
    def _noted(self, what: str, of: str) -> bool:
        return self.job.cache.get(checksum(f"{what} {of}".encode()), _NOTE) is not None

    def _note(self, what: str, of: str) -> None:
        with self.job.cache.scratch() as folder:
            made = folder / "note"
            made.touch()
            self.job.cache.put(checksum(f"{what} {of}".encode()), _NOTE, made)
