"""The chips (SoC, 芯片) that ``--soc`` can name, with the core counts and memory sizes that host functions read."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from gn_tutorial.errors import ArgumentError
from gn_tutorial.toml_file import convert, read_toml

FILE = Path(__file__).with_name("chips.toml")
#: The default chip. It is also the timing model's default, because public measurements of this chip exist.
DEFAULT_SOC = "Ascend910B2"
_LIKE_910B = "Ascend910B"


class Soc(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One chip, with the members of the struct in ``gn_twin/host/platform.h``. Sizes are in bytes.

    config: the chip's name in AddConfig. machine: the file of gn_tutorial/machines that models the chip's times; empty
    if there is none.
    """

    name: str
    family: str
    config: str
    machine: str = ""
    vector_cores: int
    cube_cores: int
    vector_only_cores: int = 0
    separate: bool = True
    ub_bytes: int = 196608
    l1_bytes: int = 524288
    l0a_bytes: int = 65536
    l0b_bytes: int = 65536
    l0c_bytes: int = 131072
    l2_bytes: int
    library_workspace: int = 16777216
    arch: int = 2201

    @property
    def compares_tails(self) -> bool:
        """Whether Compare with a count also compares a tail of less than 256 bytes.

        The instructions of such a chip mask the tail (asc-devkit, dav_m300).
        """
        return self.arch == 3002

    @property
    def note(self) -> str:
        """A warning that this chip's kernel API differs from the twin's; empty for a chip with the same kernel API."""
        if self.family == _LIKE_910B:
            return ""
        but = ", but for Compare of a count, which takes all elements" if self.compares_tails else ""
        return f"sizes and cores are those of {self.name}; the kernel itself runs by the rules of {_LIKE_910B}{but}"


@functools.cache
def socs() -> dict[str, Soc]:
    """Return every chip by its name. Raises RegistryError for a broken file."""
    tables = {name: {"name": name, **table} for name, table in read_toml(FILE, "the chips").items()}
    return convert(tables, dict[str, Soc], str(FILE))


def soc_of_configs(configs: Iterable[str]) -> Soc:
    """Return the chip to use for these AddConfig names.

    This is the default chip if its name or no known name is among them, else the chip of the first known name.
    """
    named = [one for one in configs if knows_soc(one)]
    default = find_soc()
    return default if default.config in named or not named else find_soc(named[0])


def knows_soc(name: str) -> bool:
    """Whether ``find_soc`` finds this chip."""
    try:
        find_soc(name)
    except ArgumentError:
        return False
    return True


def find_soc(name: str = DEFAULT_SOC) -> Soc:
    """Return the chip with a name such as ``Ascend910B4``, ``910b4`` or AddConfig's ``ascend310b``.

    Raises ArgumentError if there is none.
    """
    wanted = name.lower().replace(" ", "").removeprefix("ascend")
    known = socs()
    for one in known.values():
        if one.name.lower().removeprefix("ascend") == wanted:
            return one
    family = [one for one in known.values() if one.config.removeprefix("ascend") == wanted]
    if family:
        return known[DEFAULT_SOC] if known[DEFAULT_SOC] in family else family[0]
    raise ArgumentError(f"there is no chip '{name}'", hint=f"one of {', '.join(known)}")
