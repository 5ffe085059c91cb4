"""The errors that the package raises on purpose: each says what went wrong, where, and what to do next.

A user's mistake is shown without a traceback: the command line prints ``str(error)``, and IPython asks the exception
for ``_render_traceback_``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


def printable(text: str) -> str:
    """Return the text with lone surrogates, which terminals and notebooks refuse, written as ``\\udcff``."""
    return text.encode("utf-8", "backslashreplace").decode()


def shown(value: object, most: int = 80) -> str:
    """Return a value as a message shows it: a string in quotes; at most ``most`` characters.

    Python refuses to print a number of more than 4300 digits, so for such a number its count of digits is shown.
    """
    try:
        text = repr(value) if isinstance(value, str) else str(value)  # repr of a NumPy number also shows its type
    except ValueError:
        digits = int(value.bit_length() * 0.30103) if isinstance(value, int) else 4300
        text = f"a number of about {digits} digits"
    return text if len(text) <= most else f"{text[: most - 3]}..."


class GntError(Exception):
    """Base class of the package's errors.

    ``what`` is one sentence; ``where`` names a file and line, a buffer or an argument; ``hint`` is the next step;
    ``detail`` is longer text shown below (compiler output, a kernel's printed lines).
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", hint: str = "", detail: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.hint, self.detail = what, where, hint, detail

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.hint:
            lines.append(f"  hint:  {self.hint}")
        if self.detail:
            lines.append(self.detail)
        return printable("\n".join(lines))

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows instead of a traceback."""
        return [f"{type(self).__name__}: {self}"]


@contextlib.contextmanager
def located(where: object) -> Iterator[None]:
    """Name ``where`` in an error of the package that leaves the context and names no place itself."""
    try:
        yield
    except GntError as error:
        error.where = error.where or str(where)
        raise


class ArgumentError(GntError):
    """An argument that is refused because of its name, shape, dtype or value."""

    exit_code = 2


class RegistryError(GntError):
    """A kernel, operator or registry file that cannot be found or read."""

    exit_code = 2


class CompilerMissing(GntError):
    """A missing C++ compiler, or one that cannot build what the caller asks for."""

    exit_code = 3


class CompileError(GntError):
    """Source code that does not compile. ``errors`` holds the compiler's errors, cleaned and in their order."""

    exit_code = 4

    def __init__(self, what: str, *, errors: tuple = (), where: str = "", hint: str = "", detail: str = "") -> None:
        super().__init__(what, where=where, hint=hint, detail=detail)
        self.errors = errors


class CacheError(GntError):
    """A cache folder that cannot be used, for instance because the disk is full or permission is missing."""

    exit_code = 5


class KernelError(GntError):
    """A launch that did not end well. ``printed`` is what the kernel printed before it stopped."""

    exit_code = 6

    def __init__(self, what: str, *, printed: str = "", where: str = "", hint: str = "", detail: str = "") -> None:
        super().__init__(what, where=where, hint=hint, detail=detail)
        self.printed = printed


class KernelFault(KernelError):
    """A launch that the twin stopped because of mistakes in the kernel. ``diagnostics`` holds the findings.

    ``text`` shows all findings, one below the other, with their source lines.
    """

    def __init__(self, what: str, *, diagnostics: tuple = (), text: str = "", **rest: str) -> None:
        super().__init__(what, **rest)
        self.diagnostics, self.text = diagnostics, text

    def __str__(self) -> str:
        return self.text or super().__str__()

    def _repr_html_(self) -> str | None:
        """Return the findings as HTML, for a cell whose value is the fault; with None Jupyter prints the text."""
        show = getattr(self.diagnostics, "_repr_html_", None)
        return show() if show else None


class LaunchRefused(KernelFault):
    """A launch with numbers for which a device would never end, such as more blocks that wait than cores."""

    exit_code = 2


class KernelCrash(KernelError):
    """A kernel whose process died, by a segmentation fault, ``exit()`` or a forbidden system call."""


class KernelTimeout(KernelError):
    """A kernel that ran longer than its time limit."""


class KernelMemoryLimit(KernelError):
    """A kernel that asked for more memory than its limit."""


class KernelOutputLimit(KernelError):
    """A kernel that printed more than its limit."""
