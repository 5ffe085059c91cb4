"""The twin's headers, read by g++ once for all kernels: a precompiled header, kept in the cache like a library.

Reading them takes a third of g++'s time for an exercise. g++ looks for ``kernel_operator.h.gch`` before
``kernel_operator.h``, in the folder of the file that it compiles first; so a build only puts a link to the cache's
entry there. g++ silently refuses a precompiled header that does not match, and then reads the headers. If compiling
fails for another reason, the build compiles again without the precompiled header (``build_request``). So errors are
always those of a compilation without it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
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
    """A precompiled header that matches the current headers: its file, and the files it was made of."""

    path: Path
    made_of: Dependencies


class HeaderJob(Protocol):
    """The part of a BuildRequest that makes a header; a request refers to its header in turn."""

    @property
    def cache(self) -> Cache:
        """The cache that keeps the header."""

    @property
    def key(self) -> str:
        """The key of the request."""

    def look_up(self) -> tuple[Path, Dependencies] | None:
        """Return the header and the files it was made of, if it exists and these files have not changed."""

    def run(self) -> tuple[Path, bool]:
        """Make the header unless it exists; return it, and whether it existed."""


@dataclass(frozen=True)
class Precompiled:
    """``job`` makes the precompiled form of ``header``, which a source includes before anything else."""

    header: str
    job: HeaderJob

    def ready(self, search: Sequence[Path]) -> Ready | None:
        """Return the header for a compilation with these include folders; None if it must read the headers itself.

        It is made at the second request, because that takes as long as four kernels save: a cache that is used once
        (a test's, a container's) neither waits for it nor stores it.
        """
        try:
            found = self.job.look_up()
            if found is None and self._noted("wanted", self.job.key):
                self.job.run()
                found = self.job.look_up()
            elif found is None:
                self._note("wanted", self.job.key)
            if found is None or self._noted("useless", found[0].name):
                return None
        except GntError:  # a header that does not compile, a full disk: the compilation itself reports it better
            return None
        path, made_of = found
        # A learner's header with the name of a twin's header is found first only without the precompiled header.
        first = must_stay_absent([file.path for file in made_of.files], search)
        return None if any(os.path.lexists(one) for one in first) else Ready(path, made_of)

    @contextlib.contextmanager
    def offered(self, ready: Ready, folder: Path) -> Iterator[None]:
        """Link the header into the folder where g++ looks first for an include of a file in ``folder``."""
        link = folder / (self.header + SUFFIX)
        with contextlib.suppress(OSError):  # a file system without links
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(ready.path)
        try:
            yield
        finally:
            link.unlink(missing_ok=True)

    def give_up(self, ready: Ready) -> None:
        """Record that a compilation failed with the header and succeeded without it: it is not used again."""
        with contextlib.suppress(GntError):
            self._note("useless", ready.path.name)

    # Empty entries of the cache record the facts about a header for all processes.
    def _noted(self, what: str, of: str) -> bool:
        return self.job.cache.get(checksum(f"{what} {of}".encode()), _NOTE) is not None

    def _note(self, what: str, of: str) -> None:
        with self.job.cache.scratch() as folder:
            made = folder / "note"
            made.touch()
            self.job.cache.put(checksum(f"{what} {of}".encode()), _NOTE, made)
