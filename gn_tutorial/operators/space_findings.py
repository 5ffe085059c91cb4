"""Makes findings of a check of address spaces, with the severities that a launch's options give them.

A module of its own, because ``kernel`` and those who check without a launch (the exam's judge, lints) use it.
"""

from __future__ import annotations

from dataclasses import replace

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compiler.address_spaces import IDS, SpaceCheck
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


def without(options: TwinOptions) -> TwinOptions:
    """Return the options of launches that do not check the source."""
    return replace(options, errors=tuple(name for name in options.errors if name not in IDS))
