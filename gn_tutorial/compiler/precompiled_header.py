"""The twin's headers, read by g++ once for all kernels: a precompiled header, kept in the cache like a library.

Reading them is a third of the time that g++ takes for an exercise. It looks for ``kernel_operator.h.gch`` before
``kernel_operator.h``, in the folder of the file that it compiles first: a link to the cache's entry there is all that a
build does. g++ itself refuses a precompiled header that does not fit, silently, and then reads the headers; what else
can go wrong, the build mends by compiling again without it (``build_request``). So errors are always those of a
compilation without.
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

#: What g++ asks of a precompiled header's name.
SUFFIX = ".gch"
_NOTE = ".note"


@dataclass(frozen=True)
class Ready:
    """A precompiled header that fits the headers as they are: its file, and what it was made of."""

    path: Path
    made_of: Dependencies


class HeaderJob(Protocol):
    """What is asked of the BuildRequest that makes a header; a request in turn knows the header that it may use."""

    @property
    def cache(self) -> Cache:
        """Where the header is kept."""

    @property
    def key(self) -> str:
        """Of the request."""

    def look_up(self) -> tuple[Path, Dependencies] | None:
        """The header and what it was made of, if it is there and they are as they were."""

    def run(self) -> tuple[Path, bool]:
        """Makes the header, unless it is there."""


@dataclass(frozen=True)
class Precompiled:
    """``job`` makes the precompiled form of ``header``, which a source includes before anything else."""

    header: str
    job: HeaderJob

    def ready(self, search: Sequence[Path]) -> Ready | None:
        """The header for a compilation with these include folders; None if that has to read the headers itself.

        It is made at the second request, because it takes as long as four kernels save: a cache that is used once
        (a test's, a container's) neither waits for it nor holds it.
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
        except GntError:  # a header that does not compile, a full disk: the compilation itself says it better
            return None
        path, made_of = found
        # A header of the learner's with the name of one of the twin's comes first, where there is no precompiled one.
        first = must_stay_absent([file.path for file in made_of.files], search)
        return None if any(os.path.lexists(one) for one in first) else Ready(path, made_of)

    @contextlib.contextmanager
    def offered(self, ready: Ready, folder: Path) -> Iterator[None]:
        """Puts the header where g++ looks first for what a file in ``folder`` includes."""
        link = folder / (self.header + SUFFIX)
        with contextlib.suppress(OSError):  # a file system without links
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(ready.path)
        try:
            yield
        finally:
            link.unlink(missing_ok=True)

    def give_up(self, ready: Ready) -> None:
        """After a compilation that failed with the header and succeeded without: it is not used again."""
        with contextlib.suppress(GntError):
            self._note("useless", ready.path.name)

    # Notes are empty entries of the cache: what is known of a header, over all processes.
    def _noted(self, what: str, of: str) -> bool:
        return self.job.cache.get(checksum(f"{what} {of}".encode()), _NOTE) is not None

    def _note(self, what: str, of: str) -> None:
        with self.job.cache.scratch() as folder:
            made = folder / "note"
            made.touch()
            self.job.cache.put(checksum(f"{what} {of}".encode()), _NOTE, made)
