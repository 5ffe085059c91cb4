"""Declares a command of ``gnt`` (``Command``), finds all declared commands, and builds the application from them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from types import ModuleType

import typer
from typer.core import TyperGroup

from gn_tutorial.errors import RegistryError

DEV_HELP = "Commands of the course's authors: its checks, and what others build from it."


class Panel(Enum):
    """The headings of ``gnt --help``, in the order of the help. A heading without a command is not shown."""

    LEARN = "The course"
    REFERENCE = "Tuning and reference"
    TOOLS = "Sources, debugger, editor, cache"
    TEACH = "For teachers"
    #: The commands under ``gnt dev``.
    DEV = "For authors"


@dataclass(frozen=True)
class Command:
    """One command: the constant ``COMMAND`` of its module.

    run: the function, with Typer's options, or a Typer of subcommands. panel: its heading in the help. order: its place
    under the heading, the smallest number first. old_names: further names at the top level, which the help hides. rest:
    whether unknown options are passed to the function, in its context's ``args``.
    """

    name: str
    run: Callable[..., None] | typer.Typer
    panel: Panel
    order: int
    old_names: tuple[str, ...] = ()
    rest: bool = False


def find_commands(package: ModuleType) -> list[Command]:
    """Return the commands of all modules of the package, in the order of the help.

    Raises RegistryError for a module that declares none, and for a name that two modules declare at the same level, the
    top or ``gnt dev``.
    """
    found: list[Command] = []
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        declared = getattr(importlib.import_module(module.name), "COMMAND", None)
        if not isinstance(declared, Command):
            raise RegistryError(f"the module {module.name} declares no command", hint="COMMAND = Command(...)")
        if (declared.name, declared.panel is Panel.DEV) in ((one.name, one.panel is Panel.DEV) for one in found):
            raise RegistryError(f"two modules declare the command '{declared.name}'", where=module.name)
        found.append(declared)
    panels = list(Panel)
    return sorted(found, key=lambda one: (panels.index(one.panel), one.order, one.name))


def find_command(package: ModuleType, name: str) -> Command | None:
    """Import the module named after the command, and return the command; None if there is no such module.

    The result is also None for an old name, a command of ``gnt dev``, and a module that declares another name or none.
    The caller then has to look at all modules.
    """
    module = name.replace("-", "_")
    if module not in (one.name for one in pkgutil.iter_modules(package.__path__)):
        return None
    declared = getattr(importlib.import_module(f"{package.__name__}.{module}"), "COMMAND", None)
    usual = isinstance(declared, Command) and declared.name == name and declared.panel is not Panel.DEV
    return declared if usual else None


def assemble(top: typer.Typer, commands: Sequence[Command]) -> None:
    """Add the commands to ``top``: those of the panel DEV to a group ``dev``, all others to the top level.

    Old names are added to the top level too, and the help hides them.
    """
    authors = [one for one in commands if one.panel is Panel.DEV]
    others = [one for one in commands if one.panel is not Panel.DEV]
    top.info.cls = _in_order([*(one.name for one in others), "dev"])
    for one in others:
        _add(top, one, one.name, panel=one.panel.value)
    dev = typer.Typer(help=DEV_HELP, no_args_is_help=True, cls=_in_order(one.name for one in authors))
    for one in authors:
        _add(dev, one, one.name)
    top.add_typer(dev, name="dev", rich_help_panel=Panel.DEV.value)
    for one in commands:
        for name in one.old_names:
            _add(top, one, name, hidden=True)


def _add(app: typer.Typer, command: Command, name: str, *, panel: str | None = None, hidden: bool = False) -> None:
    if isinstance(command.run, typer.Typer):
        app.add_typer(command.run, name=name, rich_help_panel=panel, hidden=hidden)
        return
    settings = {"allow_extra_args": True, "ignore_unknown_options": True} if command.rest else None
    app.command(name, rich_help_panel=panel, hidden=hidden, context_settings=settings)(command.run)


def _in_order(names: Iterable[str]) -> type[TyperGroup]:
    """Return a group class whose help lists these names in this order, then all others.

    Typer's class puts groups before commands.
    """
    listed = list(names)

    class InOrder(TyperGroup):
        def list_commands(self, ctx: object) -> list[str]:
            return [*listed, *(name for name in self.commands if name not in listed)]

    return InOrder
