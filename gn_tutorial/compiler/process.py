"""Runs the compiler once, with limits on time and memory, temporary files in one folder, and a progress line.

The limits are needed because a source may be hostile, or wrong in ways that make a compiler run for ever (template
recursion) or fill memory and disk.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from gn_tutorial.compiler.toolchain import Compiler, compiler_environment

# Compilations shorter than this show no progress line.
QUIET_SECONDS = 2.0
# At most this many bytes of messages are read, because the messages on twenty errors in deeply nested templates can
# fill a disk.
MESSAGE_BYTES = 1 << 20
# The file in the folder of a compilation that has all of the compiler's output.
OUTPUT = "messages"
# The largest size of a file, 1 GiB, in blocks of 512 bytes (`ulimit -f`). No library or temporary file of a
# compilation is so large.
_FILE_BLOCKS = (1 << 30) // 512
# The twin's headers are a megabyte after the preprocessor.
_MOST_TEXT = 64 << 20


@dataclass(frozen=True, kw_only=True)
class CompileLimits:
    """The limits of one compilation. Memory is the address space of each process; macOS does not enforce it."""

    seconds: float = 180.0
    memory_bytes: int = 4 << 30


class End(Enum):
    """How a compilation ended."""

    DONE = "done"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    KILLED = "killed"  # the compiler, or the part of it that compiles, died from a signal


@dataclass(frozen=True)
class CompileOutcome:
    """How a compilation ended, and the first MESSAGE_BYTES of the compiler's messages."""

    end: End
    messages: str


def run_compiler(
    compiler: Compiler,
    arguments: Sequence[str],
    *,
    folder: Path,
    zig_cache: Path,
    limits: CompileLimits,
    shown: str,
) -> CompileOutcome:
    """Runs the compiler and returns the outcome. The compiler works and writes its temporary files in ``folder``.

    ``shown``: the name in the progress line. Ctrl-C stops the compiler and raises KeyboardInterrupt.
    """
    # A shell sets the limits, because a pre-exec function of subprocess may hang in a program with threads.
    shell = 'ulimit -v "$1" 2>/dev/null; ulimit -f "$2" 2>/dev/null; shift 2; exec "$@"'
    command = ["/bin/sh", "-c", shell, "sh", str(limits.memory_bytes // 1024), str(_FILE_BLOCKS)]
    messages = folder / OUTPUT
    with messages.open("wb") as out:
        process = subprocess.Popen(
            [*command, *compiler.argv, *arguments],
            cwd=folder,
            env=_environment(folder, zig_cache),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = _wait(process, limits.seconds, shown)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            # The process group is killed after success too, because no child process may outlive the compiler.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    with messages.open("rb") as file:
        text = file.read(MESSAGE_BYTES).decode("utf-8", "replace")
    if code is None:
        return CompileOutcome(End.TIMEOUT, text)
    if code == 0:
        return CompileOutcome(End.DONE, text)
    return CompileOutcome(End.KILLED if code < 0 or code > 128 else End.REFUSED, text)


def preprocessed(
    compiler: Compiler,
    source: Path,
    arguments: Sequence[str],
    *,
    folder: Path,
    zig_cache: Path,
    limits: CompileLimits,
    shown: str,
) -> str | None:
    """Run the preprocessor on ``source`` and return its output, with line markers; None if it fails.

    arguments: macros and include folders. The output is a file in ``folder``. Output of more than _MOST_TEXT bytes, as
    macros that double one another can make, is a failure too.
    """
    made = folder / "preprocessed.i"
    outcome = run_compiler(
        compiler,
        [str(source), "-E", "-w", "-o", str(made), *arguments],
        folder=folder,
        zig_cache=zig_cache,
        limits=limits,
        shown=shown,
    )
    if outcome.end is not End.DONE or not made.is_file() or made.stat().st_size > _MOST_TEXT:
        return None
    return made.read_text(encoding="utf-8", errors="replace")


def _environment(folder: Path, zig_cache: Path) -> Mapping[str, str]:
    return {
        **compiler_environment(),
        "TMPDIR": str(folder),
        "ZIG_GLOBAL_CACHE_DIR": str(zig_cache),
        "ZIG_LOCAL_CACHE_DIR": str(folder / "zig"),
    }


def _wait(process: subprocess.Popen[bytes], seconds: float, shown: str) -> int:
    quiet = min(QUIET_SECONDS, seconds)
    try:
        return _ended(process, quiet)
    except subprocess.TimeoutExpired:
        if quiet == seconds:
            raise
    with _progress(shown):
        return _ended(process, seconds - quiet)


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Wait for the process and return its exit code, as ``process.wait`` does. Raises subprocess.TimeoutExpired.

    On Linux, a process descriptor reports the end at once; ``process.wait`` polls every 50 ms.
    """
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            descriptor = os.pidfd_open(process.pid)
            try:
                poll = select.poll()
                poll.register(descriptor, select.POLLIN)
                if not poll.poll(math.ceil(seconds * 1000)):
                    raise subprocess.TimeoutExpired(process.args, seconds)
            finally:
                os.close(descriptor)
            return process.wait()
    return process.wait(seconds)


@contextlib.contextmanager
def _progress(shown: str) -> Iterator[None]:
    """Show a progress line if standard error is a terminal. A notebook gets none, because its outputs are compared.

    Only the main thread shows the line, because several compilers at once would overwrite each other's.
    """
    if not (sys.stderr and sys.stderr.isatty()) or threading.current_thread() is not threading.main_thread():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"compiling {shown}"):
        yield
