"""The findings that a launch treats as warnings or errors, against their default."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping, Sequence

from gn_tutorial.errors import ArgumentError
from gn_tutorial.toml_file import PACKAGE, read_toml


def check_names(field: str, names: Sequence[str]) -> None:
    """Raise ArgumentError unless every name is one of the catalogue (diagnostics.toml).

    ``warnings`` refuses a finding that ends the launch (``ends`` there), because the launch cannot continue after it.
    """
    if not isinstance(names, (list, tuple, set, frozenset)) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(
            f"TwinOptions: {field} cannot be {names!r}", hint=f'a tuple of names: {field}=("ub-stale",)'
        )
    for name in names:
        if name not in _catalogue():
            close = difflib.get_close_matches(name, _catalogue(), n=3)
            hint = f"did you mean {' or '.join(close)}?" if close else "gnt explain says what each of them means"
            raise ArgumentError(
                f"TwinOptions: {field} names '{name}', and no finding is called so",
                hint=hint,
                detail=f"the findings: {', '.join(_catalogue())}",
            )
        if field == "warnings" and _catalogue()[name]:
            goes_on = ", ".join(one for one, ends in _catalogue().items() if not ends)
            raise ArgumentError(
                f"TwinOptions: {name} cannot be a warning: the launch ends there, nothing could follow",
                hint=f"mend it first; gnt explain {name}",
                detail=f"what can be a warning: {goes_on}",
            )


def encoded(warnings: Sequence[str], errors: Sequence[str]) -> bytes:
    """Encode ``GntJob::severities``: one line a finding, 'w' or 'e' and the name."""
    lines = [f"w{name}\n" for name in warnings] + [f"e{name}\n" for name in errors]
    return "".join(lines).encode()


@functools.cache
def _catalogue() -> Mapping[str, bool]:
    """Map every finding's name to whether it ends the launch."""
    tables = read_toml(PACKAGE / "diagnostics" / "diagnostics.toml", "the catalogue of diagnostics")
    return {name: bool(table.get("ends", False)) for name, table in tables.items()}
