"""One request to the build: finds the library in the cache or compiles it.

Of several processes with the same request, only one compiles. The key of a request is a hash of everything that is
known before compiling: text, flags, include folders, objects to link in, compiler, processor, environment. Under this
key the cache keeps the list of files that the compiler read. The key of the library is a hash of the request's key, and
of the paths and contents of these files.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from gn_tutorial.compiler import messages
from gn_tutorial.compiler.cache import Cache
from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.compiler.dependencies import Dependencies, collect, hash_file, parse_depfile
from gn_tutorial.compiler.pointer_hooks import bounds_flags, hook_flags, with_sites
from gn_tutorial.compiler.precompiled_header import KEEP_INLINES, Precompiled, Ready, interface_marks
from gn_tutorial.compiler.precompiled_header import SUFFIX as HEADER
from gn_tutorial.compiler.process import (
    MESSAGE_BYTES,
    OUTPUT,
    CompileLimits,
    CompileOutcome,
    End,
    preprocessed,
    run_compiler,
)
from gn_tutorial.compiler.space_casts import with_casts
from gn_tutorial.compiler.toolchain import ENVIRONMENT, Compiler, cpu_key, diagnostic_flags
from gn_tutorial.cpp import portability_rules
from gn_tutorial.errors import CompilerMissing
from gn_tutorial.toml_file import PACKAGE

TWIN = PACKAGE / "twin"
TWIN_INCLUDE = TWIN / "include"
LIBRARY, PROGRAM, OBJECT, DEPENDENCIES = ".so", ".bin", ".o", ".deps"
# The suffix of a request that only reads the text: its result is a file with the compiler's messages, also on errors.
MESSAGES = ".messages"
# The name of the generated file in these messages.
READ_SHIM = Path("shim.cpp")
# A part of every key. Raise this number when the way of building changes without a change of flags or files.
RECIPE = "1"
# What the calls of ``bounds_flags`` go to.
_BOUNDS = '\n#include "gn_twin/tensor/array_bounds.h"\n'
# The limits of the compilation in which zig first compiles its C++ library: 40 s where we measured it, minutes on a
# slow machine.
ZIG_FIRST = CompileLimits(seconds=1800.0)


def precompiled_form(
    cache: Cache, compiler: Compiler, header: str, flags: tuple[str, ...], shown: str, *, interface: bool = False
) -> Precompiled | None:
    """Return the precompiled form of one of the twin's headers, for a text that includes it first; None without g++.

    flags: from ``header_flags`` or ``host_header_flags``, for the same level as the text, with the definitions that the
    header needs. interface: whether the header's inline functions are compiled once, into an object, instead of with
    each text.
    """
    if compiler.name != "g++":
        return None

    def job(suffix: str, text: str, *more: str) -> BuildRequest:
        return BuildRequest(
            cache=cache,
            compiler=compiler,
            text=text,
            flags=(*flags, *more),
            learner=(),
            search=(TWIN_INCLUDE,),
            source=TWIN_INCLUDE / header,
            suffix=suffix,
            shown=shown,
            limits=CompileLimits(),
        )

    include = f'#include "{header}"\n'
    if not interface:
        return Precompiled(header, job(HEADER, include))
    # The instances of gn_twin/basic_api/compiled_once.h, at the level of most observed kernels. At -O3 they take 11 s,
    # and at -O0 as long as they save in five kernels.
    name = "#define GNT_COMPILED_ONCE"
    once, extern = (f"{name}\n", f"{name} extern\n") if "-Og" in flags else ("", "")
    marked = f'{extern}{_all_as_interface(TWIN_INCLUDE)}#line 1 "{header}"\n{include}'
    return Precompiled(header, job(HEADER, marked), job(OBJECT, once + include, "-c", KEEP_INLINES))


@functools.cache  # the twin's headers keep their names while a process builds many kernels
def _all_as_interface(folder: Path) -> str:
    return interface_marks(sorted(folder.rglob("*.h")))


@dataclass(frozen=True, kw_only=True)
class BuildRequest:
    """A text to compile, with the compiler, its flags, and facts for error messages. ``make`` returns the result."""

    cache: Cache
    compiler: Compiler
    text: str
    flags: tuple[str, ...]
    learner: tuple[Path, ...]  # folders of the learner's files: errors are shown at the lines of these files
    search: tuple[Path, ...]  # include folders, in order
    shown: str
    limits: CompileLimits
    source: Path | None = None  # the file that the text includes; None: the text itself is the source
    shim_lines: dict[int, int] = field(default_factory=dict)
    suffix: str = LIBRARY
    objects: tuple[Path, ...] = ()  # files of the cache to link in; their names change with their contents
    precompiled: Precompiled | None = None  # the form of the header that the text includes first
    # Whether to append a table of the code that a device refuses. ``text`` names the version of the checks that make
    # the table, so the key changes with them.
    checked: bool = False
    texts: tuple[str, ...] = ()  # the texts of a checked source and of the headers beside it

    def run(self) -> tuple[Path, bool]:
        """Return the library (or another file with ``suffix``), and whether it was in the cache already."""
        library, _, cached = self.make()
        return library, cached

    def make(self) -> tuple[Path, Dependencies | None, bool]:
        """Return the library, the files it was made of, and whether it was in the cache already.

        Instead of the files, return None if one of them was saved during the compilation.
        """
        found = self.look_up()
        if found is not None:
            return *found, True
        if self.compiler.is_zig and self.suffix != MESSAGES:
            self._prepare_zig()
        # The header is made before the lock is taken, because a process must not take a second lock.
        ready = self.precompiled.ready(self.search) if self.precompiled else None
        key = self.key
        with self.cache.lock(key):
            found = self.look_up()
            if found is not None:
                return *found, True
            return *self._compile(key, ready), False

    @property
    def key(self) -> str:
        """Return the key of the request, a hash of everything that is known before compiling."""
        environment = [f"{name}={os.environ.get(name, '')}" for name in ENVIRONMENT]
        linked = [one.name for one in self.objects]
        parts = [
            RECIPE,
            self.suffix,
            self.text,
            *self._arguments(),
            *linked,
            str(self.compiler),
            cpu_key(),
            *environment,
        ]
        return checksum("\0".join(parts).encode("utf-8", "surrogateescape"))

    def _arguments(self) -> list[str]:
        # The learner's folders get -iquote, not -I, because a file named `version` or `string.h` in them must not
        # replace a standard header.
        includes = [word for folder in self.search if folder != TWIN_INCLUDE for word in ("-iquote", str(folder))]
        twin = ["-I", str(TWIN_INCLUDE)] if TWIN_INCLUDE in self.search else []
        return [*self.flags, *includes, *twin]

    def look_up(self) -> tuple[Path, Dependencies] | None:
        """Return the library for the files as they are now, and these files; None if the cache does not have it."""
        key = self.key
        stored = self.cache.get(key, DEPENDENCIES)
        if stored is None:
            return None
        before = _read_dependencies(stored)
        now = before.now() if before else None
        if now is None:
            return None
        library = self.cache.get(now.result_key(key), self.suffix)
        if library is not None and now != before:
            self._store_dependencies(key, now)  # with the new times, so that the next look-up need not hash the files
        return None if library is None else (library, now)

    def _compile(self, key: str, ready: Ready | None) -> tuple[Path, Dependencies | None]:
        with self.cache.scratch() as folder:
            # From the name "shim.h" g++ knows that the file is a header, and precompiles it.
            shim = folder / ("shim.h" if self.suffix == HEADER else "shim.cpp")
            made, depfile = folder / "made", folder / "made.d"
            source_before = hash_file(str(self.source)).content if self.source else ""
            since = time.time_ns()
            found, hooks, bounds = self._source_findings(folder, shim) if self.checked else ("", None, ())
            _write(shim, self.text + found + (_BOUNDS if bounds else ""))
            outcome = self._compile_hooked(folder, shim, (*hooks, *bounds)) if hooks else None
            if outcome is not None and outcome.end in (End.DONE, End.TIMEOUT):
                ready = None
            else:  # messages on a mistake in the source do not depend on the other way of compiling
                outcome, ready = self._run_compiler(folder, shim, ready, bounds)
            if self.suffix == MESSAGES and outcome.end in (End.DONE, End.REFUSED):
                said = with_casts((folder / OUTPUT).read_bytes(), MESSAGE_BYTES)
                _write(made, said.replace(str(shim), str(READ_SHIM)))
            elif outcome.end is not End.DONE:
                if full := self.cache.full(outcome.messages):
                    raise full
                raise messages.explain(outcome.end, outcome.messages, self._sources(shim), self.limits)
            dependencies = self._collect(depfile, folder, since, source_before, ready)
            if dependencies is None:  # a file was saved during the compilation, so the library serves this call only
                return self.cache.put(checksum(f"{key} {since}".encode()), self.suffix, made), None
            library = self.cache.put(dependencies.result_key(key), self.suffix, made)
        self._store_dependencies(key, dependencies)
        return library, dependencies

    def _source_findings(self, folder: Path, shim: Path) -> tuple[str, tuple[str, ...] | None, tuple[str, ...]]:
        """Return the table of the source's code that a device refuses; an empty one if the preprocessor fails.

        Also return the flags to make it report its accesses through plain pointers (None if it has no such pointers, or
        if the compiler cannot), and those to make it report indices outside its arrays.
        """
        _write(shim, self.text + portability_rules.PROBE)
        words = [word for word in self._arguments() if word.startswith(("-D", "-std="))]
        own = [word for one in self.search if one != TWIN_INCLUDE for word in ("-iquote", str(one))]
        # Headers without declarations stand in for the twin's. The compiler first gets only those that the texts name.
        # If that fails, it gets all of them, because an #include may name its header by a macro; and it reads as CANN's
        # CPU debug does, because what a source has for devices alone may include headers that only CANN's build makes.
        for texts, more in ((self.texts, ()), (None, ("-DASCENDC_CPU_DEBUG=1",))):
            names = portability_rules.stand_ins(folder, TWIN_INCLUDE, texts)
            text = preprocessed(
                self.compiler,
                shim,
                [*words, *more, *own, "-I", str(names)],
                folder=folder,
                zig_cache=self.cache.root / "zig",
                limits=self.limits,
                shown=self.shown,
            )
            if text is not None:
                break
        if text is None:
            return portability_rules.NOTHING_READ, None, ()  # the compiler will report the error
        if not portability_rules.words_are_left(text):
            return portability_rules.NOTHING_READ, None, ()
        read = portability_rules.read(portability_rules.own_text(text, self._sources(shim).is_learners))
        hooks = hook_flags(self.compiler) if read.plain_pointers else None
        bounds = bounds_flags(self.compiler) if read.indexed_arrays else ()
        return portability_rules.table(read.found), hooks, bounds

    def _compile_hooked(self, folder: Path, shim: Path, hooks: tuple[str, ...]) -> CompileOutcome:
        """Compile the shim to assembly, and make a library of what ``with_sites`` makes of it.

        The precompiled header is not used: it was made with other flags.
        """
        assembly, debugged = folder / "shim.s", "-g" in self.flags
        lines = () if debugged else ("-g1",)
        arguments = [*diagnostic_flags(self.compiler), *self._arguments(), *hooks, *lines, "-MD", "-MF"]
        outcome = self._run([str(shim), "-S", "-o", str(assembly), *arguments, str(folder / "made.d")], folder)
        if outcome.end is not End.DONE:
            return outcome
        assembly.write_bytes(with_sites(assembly.read_bytes(), self._sources(shim).is_learners, TWIN_INCLUDE))
        linked = [str(assembly), *map(str, self.objects), "-o", str(folder / "made"), *self.flags]
        return self._run([*linked, *(() if debugged else ("-Wl,--strip-debug",))], folder)

    def _run_compiler(
        self, folder: Path, shim: Path, ready: Ready | None, bounds: tuple[str, ...]
    ) -> tuple[CompileOutcome, Ready | None]:
        """Compile the shim; return the outcome, and ``ready`` if that precompiled header was used, else None.

        With the header, compiling takes less time; the result is the same. bounds: from ``bounds_flags``; the linker
        gets none of them, because it would add the compiler's own library.
        """
        arguments = [*diagnostic_flags(self.compiler), *self._arguments(), "-MD", "-MF", str(folder / "made.d")]

        def run(*more: Path) -> CompileOutcome:
            linked, text = [*map(str, (*self.objects, *more))], str(shim)
            if bounds:
                text = str(folder / "shim.o")
                outcome = self._run([str(shim), "-c", "-o", text, *arguments, *bounds], folder)
                if outcome.end is not End.DONE:
                    return outcome
                return self._run([text, *linked, "-o", str(folder / "made"), *self.flags], folder)
            return self._run([text, *linked, "-o", str(folder / "made"), *arguments], folder)

        if ready is None or self.precompiled is None:
            return run(), None
        with self.precompiled.offered(ready, folder):
            outcome = run(*ready.objects)
        if outcome.end in (End.DONE, End.TIMEOUT):
            return outcome, ready
        # The header may be the cause of the failure. If a mistake in the source is the cause, the compiler's message
        # must not depend on the header. In both cases, compile without the header.
        outcome = run()
        if outcome.end is End.DONE:
            self.precompiled.give_up(ready)
        return outcome, None

    def _run(self, arguments: list[str], folder: Path) -> CompileOutcome:
        return run_compiler(
            self.compiler,
            arguments,
            folder=folder,
            zig_cache=self.cache.root / "zig",
            limits=self.limits,
            shown=self.shown,
        )

    def _collect(
        self, depfile: Path, folder: Path, since: int, source_before: str, ready: Ready | None
    ) -> Dependencies | None:
        ours = (
            str(folder) + os.sep,
            *([str(Path(self.compiler.argv[0]).parent) + os.sep] if self.compiler.is_zig else []),
        )
        if not depfile.is_file():  # an included file is missing
            return None
        listed = parse_depfile(depfile.read_text("utf-8", "surrogateescape"))
        paths = [os.path.normpath(folder / path) for path in listed]
        # The compiler does not list the files inside a precompiled header.
        paths += [file.path for file in ready.made_of.files] if ready else []
        headers = sorted({path for path in paths if not path.startswith(ours) and path != str(self.source)})
        try:
            collected = collect(headers, self.search, since)
            # The user may have saved the source just before this build, so the source's times do not show whether it
            # changed meanwhile. Its hash from before the compilation does.
            own = hash_file(str(self.source)) if self.source else None
        except OSError:
            return None
        if collected is None or (own is not None and own.content != source_before):
            return None
        # If a header was saved after the precompiled header was chosen, the precompiled one has the earlier text.
        if ready and not {(one.path, one.content) for one in ready.made_of.files} <= {
            (one.path, one.content) for one in collected.files
        }:
            return None
        return Dependencies((own, *collected.files) if own else collected.files, collected.absent)

    def _store_dependencies(self, key: str, dependencies: Dependencies) -> None:
        with self.cache.scratch() as folder:
            made = folder / "dependencies"
            made.write_bytes(dependencies.to_bytes())
            self.cache.put(key, DEPENDENCIES, made)

    def _sources(self, shim: Path) -> messages.Sources:
        return messages.Sources(
            main=self.source,
            shim=shim,
            shim_lines=self.shim_lines,
            learner=self.learner,
            searched=tuple(folder for folder in self.search if folder != TWIN_INCLUDE),
            twin=TWIN_INCLUDE,
            compiler=self.compiler.name,
            shown=self.shown,
        )

    def _prepare_zig(self) -> None:
        """Let zig compile its C++ library once, outside the time limit of a kernel.

        zig needs one such library for each processor, and another for unoptimised code. The other flags do not matter.
        """
        level = "-O0" if "-O0" in self.flags else "-O3"
        key = checksum("\0".join(["zig", str(self.compiler), cpu_key(), level]).encode())
        zig = self.cache.root / "zig"
        ready = zig / f"ready-{key[:16]}"
        if ready.exists():
            return
        with self.cache.lock(key), self.cache.scratch() as folder:
            if ready.exists():
                return
            print("preparing the zig compiler: about 40 s, this once", file=sys.stderr, flush=True)
            shim = folder / "shim.cpp"
            _write(shim, "#include <stdexcept>\nint main() { throw std::runtime_error(__FILE__); }\n")
            outcome = run_compiler(
                self.compiler,
                # The program is linked even if the request makes an object file, because zig compiles its library only
                # for linking.
                [str(shim), "-o", str(folder / "made"), *(flag for flag in self.flags if flag != "-c")],
                folder=folder,
                zig_cache=zig,
                limits=ZIG_FIRST,
                shown="the C++ library of zig, about 40 s",
            )
            if outcome.end is not End.DONE:
                raise CompilerMissing(
                    "the zig compiler does not work here", hint="install g++ or clang++", detail=outcome.messages[:2000]
                )
            ready.touch()


def _read_dependencies(path: Path) -> Dependencies | None:
    try:
        return Dependencies.from_bytes(path.read_bytes())
    except OSError:
        return None


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8", "surrogateescape")
