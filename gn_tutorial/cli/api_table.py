"""Which Ascend C names the twin has, and which it knows but rejects: ``twin/apis.toml``."""

from __future__ import annotations

import fnmatch
import tomllib
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.errors import RegistryError
from gn_tutorial.toml_file import PACKAGE

TWIN = PACKAGE / "twin"


@dataclass(frozen=True)
class Api:
    """One name. ``rank`` is its place among public kernels by use, 0 if unknown; the rest is empty if not supported."""

    name: str
    supported: bool
    rank: int = 0
    forms: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    doc: str = ""
    what: str = ""


def load_apis(twin: Path = TWIN) -> list[Api]:
    """Every name the twin has or rejects: supported ones by rank, then the others by name.

    Raises RegistryError if the list cannot be read.
    """
    try:
        table = tomllib.loads((twin / "apis.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise RegistryError(f"cannot read the list of APIs: {error}", hint="install the package again") from error
    lacking = table.pop("unsupported", {})
    rejected = {name for names in lacking.values() for name in names}
    supported = [_api(name, fields) for name, fields in table.items()]
    ranked = sorted(supported, key=lambda api: (api.rank or 10**6, api.name))
    return ranked + [Api(name, supported=False) for name in sorted(rejected)]


def matching(apis: list[Api], pattern: str) -> list[Api]:
    """Names that contain ``pattern``, or match it if it has ``*`` or ``?``; upper and lower case are the same."""
    wanted = pattern.lower()
    if any(sign in wanted for sign in "*?["):
        return [api for api in apis if fnmatch.fnmatch(api.name.lower(), wanted)]
    return [api for api in apis if wanted in api.name.lower()]


def _api(name: str, fields: dict) -> Api:
    def words(key: str) -> tuple[str, ...]:
        value = fields.get(key, ())
        return (value,) if isinstance(value, str) else tuple(value)

    def text(key: str) -> str:
        return str(fields.get(key, ""))

    return Api(name, True, int(fields.get("rank", 0)), words("forms"), words("dtypes"), text("doc"), text("what"))
