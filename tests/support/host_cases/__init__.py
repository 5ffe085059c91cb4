"""The host API's operators for the tests, a module for each header; its ``CASES`` describe that header's operators."""

from importlib import import_module
from pkgutil import iter_modules

from host_case import HostCase

_MODULES = [import_module(f"{__name__}.{one.name}") for one in iter_modules(__path__)]
#: Operator's name -> its case.
CASES: dict[str, HostCase] = {case.name: case for module in _MODULES for case in module.CASES}
