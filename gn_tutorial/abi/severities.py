"""Checks the names of findings that a launch makes warnings or errors, against the catalogue of diagnostics."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from gn_tutorial.errors import ArgumentError
from gn_tutorial.toml_file import PACKAGE, read_toml


def check_names(field: str, names: Sequence[str]) -> None:
    """Raise ArgumentError unless ``names`` is a list, tuple or set of names in the catalogue (diagnostics.toml).

    field: ``warnings`` or ``errors``. Also raises ArgumentError if ``warnings`` has a finding that ends the launch
    (``ends`` in the catalogue), because nothing follows such a finding.
    """
    ending = having("ends")
    if not isinstance(names, (list, tuple, set, frozenset)) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(
            f"TwinOptions: {field} cannot be {names!r}", hint=f'a tuple of names: {field}=("ub-stale",)'
        )
    for name in names:
        if name not in _catalogue():
            close = difflib.get_close_matches(name, _catalogue(), n=3)
            hint = f"did you mean {' or '.join(close)}?" if close else "gnt explain says what each of them means"
            raise ArgumentError(
                f"TwinOptions: {field} names '{name}', but no finding has that name",
                hint=hint,
                detail=f"the findings: {', '.join(_catalogue())}",
            )
        if field == "warnings" and name in ending:
            goes_on = ", ".join(one for one in _catalogue() if one not in ending)
            raise ArgumentError(
                f"TwinOptions: {name} cannot be a warning: the launch ends there, nothing could follow",
                hint=f"mend it first; gnt explain {name}",
                detail=f"what can be a warning: {goes_on}",
            )


def having(key: str) -> tuple[str, ...]:
    """Return the names of the findings whose ``key`` (``ends``, ``strict``, ``unchecked``) is true in the catalogue."""
    return tuple(name for name, table in _catalogue().items() if table.get(key, False))


@functools.cache
def _catalogue() -> Mapping[str, Mapping[str, Any]]:
    return read_toml(PACKAGE / "diagnostics" / "diagnostics.toml", "the catalogue of diagnostics")
