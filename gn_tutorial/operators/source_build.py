"""Builds the libraries of one kernel source, and uses each library again while no file is edited."""

from __future__ import annotations

import functools
import os
import stat
import time
from dataclasses import dataclass, replace
from pathlib import Path

from gn_tutorial.abi.options import Optimise
from gn_tutorial.compiler.address_spaces import SpaceCheck, check_spaces
from gn_tutorial.compiler.build import AS_IT_IS, Built, SourceOptions, build_kernel
from gn_tutorial.compiler.build_request import TWIN_INCLUDE
from gn_tutorial.compiler.cache_store import still_there
from gn_tutorial.compiler.toolchain import ENVIRONMENT
from gn_tutorial.cpp.entries import macro_lines
from gn_tutorial.cpp.included_files import read_sources
from gn_tutorial.errors import RegistryError

SOURCE_SUFFIXES = (".cpp", ".cc", ".cxx", ".cce", ".asc", ".h", ".hpp")
#: For this number of seconds isolated launches assume that the headers of the twin and of the system are unchanged. To
#: check all of them takes as long as starting two processes, and nobody edits one and runs a kernel in that time.
_TRUSTED = 0.5
#: A launch with at most this number of bytes of arrays ends before a faster library would be compiled. With "little",
#: an observed launch of 4 MiB takes 27 ms instead of 18, and such a launch of a scalar kernel takes 54 ms instead of
#: 23, but compiling takes one to three seconds less.
_SMALL_BYTES = 64 << 20
_DECIDE_THE_BUILD = (*ENVIRONMENT, "GNT_CACHE_DIR", "GNT_CXX", "HOME", "PATH")


@dataclass
class _Earlier:
    """An earlier build. state, headers: the results of ``_state`` and ``headers`` before the build.

    since: when all files of the build were last checked, in seconds of ``time.monotonic``.
    """

    state: object
    headers: tuple[str, ...]
    since: float
    built: Built


@functools.lru_cache(maxsize=64)
def _builds(*_asked: object) -> dict[tuple[bool, Optimise], _Earlier]:
    """Return the dict of builds for a source with these arguments: (observed, how optimised) -> build.

    All Kernel objects of the same source share this dict, because a loop may make such an object for each launch.
    """
    return {}


class SourceBuild:
    """The source of a kernel, a file or text, and how it is compiled (``build_kernel`` explains each argument)."""

    def __init__(
        self,
        path: Path | None,
        text: str | None,
        how: SourceOptions = AS_IT_IS,
        *,
        optimise: Optimise | None = None,
        ub_bytes: int | None = None,
    ) -> None:
        """Take the arguments of ``build_kernel``. optimise: with None each launch decides (``_level``)."""
        self.path, self.how = path, how
        self._text, self._optimise, self._ub_bytes = text, optimise, ub_bytes
        self._looks_elsewhere = bool(how.include_dirs or how.includes)  # ``headers`` does not look there
        self._built = _builds(path, text, None if path else Path.cwd(), repr(how), ub_bytes)
        self._looked: set[tuple[bool, Optimise]] = set()  # the builds whose files this object has checked
        self._read: tuple[object, str] | None = None  # reading the file twice took a fifth of an in-process launch

    def with_ub(self, ub_bytes: int) -> SourceBuild:
        """Return the same source for a chip whose Unified Buffer has that many bytes."""
        return SourceBuild(self.path, self._text, self.how, optimise=self._optimise, ub_bytes=ub_bytes)

    @property
    def text(self) -> str:
        """The source text; a file is read again when it was edited. Raises RegistryError."""
        if self.path is None:
            return self._text or ""
        try:
            now = self.path.stat()
            if not stat.S_ISREG(now.st_mode):  # at a pipe a reader waits for ever
                raise RegistryError("cannot read the kernel: it is no regular file", where=str(self.path))
            edition = (now.st_mtime_ns, now.st_size, now.st_ino)
            if self._read is None or self._read[0] != edition:
                self._read = (edition, self.path.read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError as error:
            said = f"byte {error.start + 1} is not UTF-8"
            raise RegistryError(
                f"cannot read the kernel: {said}", where=str(self.path), hint="save it in UTF-8"
            ) from error
        except OSError as error:
            raise RegistryError(f"cannot read the kernel: {error}", where=str(self.path)) from error
        return self._read[1]

    def headers(self) -> tuple[str, ...]:
        """Return the texts whose macros may define the source's entries: the build's, and those of its headers."""
        near = self.path.resolve().parent if self.path else Path.cwd()
        macros = macro_lines(self.how.macros)
        headers = read_sources(near / "kernel", self.text, (near,), TWIN_INCLUDE).headers
        return (macros, *headers) if macros else headers

    def build(self, observed: bool, array_bytes: int = 0) -> Built:
        """Return the library for a launch with ``array_bytes`` of arrays. Raises the errors of ``build_kernel``."""
        return self._build(observed, self._level(observed, array_bytes))

    def check_spaces(self) -> SpaceCheck:
        """Return where the source's types lose their memory (``compiler.address_spaces``). Raises as ``build``."""
        return check_spaces(self.path or self.text, self.how)

    def quickly(self, observed: bool, array_bytes: int, *, isolated: bool) -> Built:
        """Return what ``build`` returns, without its check of every header (2 ms) if no file of the user was edited.

        Always checked: the source, the source files and headers in its folder, the environment variables of the build,
        and that the library is still in the cache. A launch inside this process, unless it is the first that this
        object makes with this build, assumes that all other headers are unchanged, because such launches come in loops.
        Any other launch also checks the headers that the source includes. It checks those of the twin and of the system
        once in ``_TRUSTED`` seconds, or each time if the source has include folders or ``includes``.
        """
        which = observed, self._level(observed, array_bytes)
        earlier = self._built.get(which)
        if (
            earlier is None
            or earlier.state != self._state()
            or not ((which in self._looked and not isolated) or self._still(earlier))
            or not still_there(earlier.built.library)
        ):
            return self._build(*which)
        self._looked.add(which)
        return replace(earlier.built, cached=True)

    def _level(self, observed: bool, array_bytes: int) -> Optimise:
        """Return how to optimise: as ``optimise`` says.

        If it is None: for speed if the launch is bare or large, else so that the launch's result comes soonest.
        """
        if self._optimise is not None:
            return self._optimise
        return "soonest" if observed and array_bytes <= _SMALL_BYTES else True

    def _build(self, observed: bool, level: Optimise) -> Built:
        found = self._state(), self.headers(), time.monotonic()  # read first, because a file may be saved meanwhile
        built = build_kernel(
            self.path or self.text, self.how, observed=observed, optimise=level, ub_bytes=self._ub_bytes
        )
        self._looked.add((observed, level))
        self._built[observed, level] = _Earlier(*found, built)
        return built

    def _still(self, earlier: _Earlier) -> bool:
        """Whether a launch may use the earlier build, given that the source and its folder are unchanged."""
        if earlier.headers != self.headers():
            return False
        if self._looks_elsewhere or time.monotonic() - earlier.since > _TRUSTED:
            if earlier.built.made_of is None or not earlier.built.made_of.unchanged():
                return False
            earlier.since = time.monotonic()
        return True

    def _state(self) -> object:
        """Return a value that changes with the source, the sources in its folder, and the variables of the build."""
        chosen = tuple(map(os.environ.get, _DECIDE_THE_BUILD))
        if self.path is None:
            return self._text, chosen
        text = self.text
        with os.scandir(self.path.parent) as items:
            times = {item.name: item.stat().st_mtime_ns for item in items if item.name.endswith(SOURCE_SUFFIXES)}
        return text, times, chosen
