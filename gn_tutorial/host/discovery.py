"""Collects the public names of the modules in a folder, so that a new operator needs only its file."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any


def public_names(package: ModuleType) -> dict[str, Any]:
    """Return the names in ``__all__`` of a package's modules, in the order of the modules' names."""
    modules = [import_module(f"{package.__name__}.{one.name}") for one in iter_modules(package.__path__)]
    return {name: getattr(module, name) for module in modules for name in module.__all__}
