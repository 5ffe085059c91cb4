"""PyTorch operators for the tests, a module for each; its ``CASE`` describes the operator and its gradient.

An operator whose attribute changes what it computes has a module for each of its values.

GroupNorm's operators have test files of their own.
"""

from importlib import import_module
from pkgutil import iter_modules

from torch_case import TorchCase

#: Module's name -> its case.
CASES: dict[str, TorchCase] = {one.name: import_module(f"{__name__}.{one.name}").CASE for one in iter_modules(__path__)}
