"""A module for each header of the host API: its ``CASES`` are what the tests know of the operators there."""

from importlib import import_module
from pkgutil import iter_modules

from host_case import HostCase

_MODULES = [import_module(f"{__name__}.{one.name}") for one in iter_modules(__path__)]
#: By the operator's name.
CASES: dict[str, HostCase] = {case.name: case for module in _MODULES for case in module.CASES}
