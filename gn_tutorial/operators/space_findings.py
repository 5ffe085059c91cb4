"""Makes findings of a check of address spaces, with the severities that a launch's options give them.

A module of its own, because ``kernel`` and those who check without a launch (the exam's judge, lints) use it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compiler.address_spaces import IDS, SpaceCheck, check_spaces
from gn_tutorial.cpp.source_text import short
from gn_tutorial.diagnostics.findings import Diagnostic, Findings


def asks(options: TwinOptions) -> bool:
    """Whether a launch with these options also checks the source: they name a finding of the check, as strict ones."""
    return any(name in IDS for name in (*options.errors, *options.warnings))


def findings_of(check: SpaceCheck, options: TwinOptions | None = None) -> Findings:
    """Return the check's findings: errors, but for those that the options make warnings or do not name."""
    errors = IDS if options is None else options.errors
    return Findings(
        Diagnostic(one.id, "error" if one.id in errors else "warning", one.file, one.line, 0, dict(one.fields))
        for one in check.findings
    )


def in_files(kernels: Iterable[Path]) -> tuple[list[str], SpaceCheck]:
    """Return a line for each finding in these files and for each file that clang could not read, and the last check.

    The last check says which clang read them. Without a clang it says so, and there are no lines.
    """
    lines: dict[str, None] = {}  # several kernels include the header with a finding
    check = SpaceCheck()
    for path in kernels:
        check = check_spaces(path)
        if not check.compiler:
            break
        lines |= dict.fromkeys(
            f"{short(Path(one.file))}:{one.line}: {one.what} {one.fix}" for one in findings_of(check)
        )
        if check.not_done:
            lines[f"{short(path)}: {check}"] = None
    return list(lines), check


def without(options: TwinOptions) -> TwinOptions:
    """Return the options of launches that do not check the source."""
    return replace(options, errors=tuple(name for name in options.errors if name not in IDS))
