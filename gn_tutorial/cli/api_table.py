"""The Ascend C names that the twin supports, and those that it knows but rejects, read from ``twin/apis.toml``."""

from __future__ import annotations

import fnmatch
from pathlib import Path

from msgspec import Struct

from gn_tutorial.toml_file import PACKAGE, convert, read_toml

TWIN = PACKAGE / "twin"


class Api(Struct, frozen=True, forbid_unknown_fields=True):
    """One name. rank: 1 for the name that public kernels use most, and so on; 0 if unknown.

    If ``supported`` is False, all further fields are empty.
    """

    name: str
    supported: bool
    rank: int = 0
    forms: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    doc: str = ""
    what: str = ""


def load_apis(twin: Path = TWIN) -> list[Api]:
    """Return every name that the twin supports or rejects.

    Supported names come first, by rank; names without a rank follow by name. Rejected names come last, by name.

    Raises RegistryError if the list cannot be read.
    """
    path = twin / "apis.toml"
    table = read_toml(path, "the list of APIs")
    lacking = table.pop("unsupported", {})
    rejected = {name for names in lacking.values() for name in names}
    tables = {name: {"name": name, "supported": True, **fields} for name, fields in table.items()}
    supported = convert(tables, dict[str, Api], str(path)).values()
    ranked = sorted(supported, key=lambda api: (api.rank or 10**6, api.name))
    return ranked + [Api(name, supported=False) for name in sorted(rejected)]


def matching(apis: list[Api], pattern: str) -> list[Api]:
    """Return the names that contain ``pattern``, or match it if it has ``*``, ``?`` or ``[``; case does not matter."""
    wanted = pattern.lower()
    if any(sign in wanted for sign in "*?["):
        return [api for api in apis if fnmatch.fnmatch(api.name.lower(), wanted)]
    return [api for api in apis if wanted in api.name.lower()]
