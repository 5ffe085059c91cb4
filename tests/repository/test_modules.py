"""A file is one idea: a short module that one other module uses is a part of that one (CONTRIBUTING.md)."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import gn_tutorial
from tests.repository.test_directions import ROOT, modules, own_imports

#: A module of fewer lines belongs to its importer.
SHORT = 70
#: A short module that has a reason to stand alone gives it in its docstring, in a sentence with these words.
REASON = "module of its own"
#: Folders whose modules are found by ``host/discovery``.
FOUND_BY_THEMSELVES = ("host.operators", "torch_ops.operators")
#: What the package has today, rounded up. A change may lower them.
MOST_WITH_ONE_IMPORTER, MOST_SHORT = 60, 10


def with_one_importer(known: Mapping[str, Path], uses: Mapping[str, set[str]]) -> list[str]:
    """Return the modules that exactly one other module imports.

    A package's ``__init__`` is no such importer: what it hands out is used by every user of the package (``gnt.plot``).
    Nor are these files counted themselves: a folder needs one. A folder whose files are found by themselves uses each.
    """
    doors = {name for name, path in known.items() if path.name == "__init__.py"}
    found_alone = {name for name in known if name.rpartition(".")[0] in FOUND_BY_THEMSELVES}
    importers: dict[str, set[str]] = {name: set() for name in known}
    for user, used in uses.items():
        for name in used & known.keys():
            importers[name].add(user)
    files = (name for name, path in known.items() if path.name not in ("__init__.py", "__main__.py"))
    one = (name for name in files if len(importers[name]) == 1 and not importers[name] & doors)
    return sorted(set(one) - found_alone)


def all_uses() -> dict[str, set[str]]:
    """Return what each module imports, the tools and the checks of exercises too, and what the door imports lazily."""
    known, uses = modules(), own_imports()
    uses["__init__"] |= {target.partition(":")[0] for target in gn_tutorial._LAZY.values()}
    for path in (one for folder in ("tools", "solutions") for one in (ROOT / folder).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = {
            f"{node.module}.{alias.name}".removeprefix("gn_tutorial.")
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.level == 0
            for alias in node.names
        }
        uses[path.relative_to(ROOT).as_posix()] = {
            name for one in named for name in (one, one.rpartition(".")[0]) if name in known
        }
    return uses


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def without_reason(path: Path) -> bool:
    return REASON not in (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")


def test_few_modules_have_one_importer() -> None:
    found = with_one_importer(modules(), all_uses())
    assert len(found) <= MOST_WITH_ONE_IMPORTER, found


def test_a_short_module_with_one_importer_says_why() -> None:
    known = modules()
    short = [name for name in with_one_importer(known, all_uses()) if lines(known[name]) < SHORT]
    assert [name for name in short if without_reason(known[name])] == []
    assert len(short) <= MOST_SHORT, short


def test_one_importer_is_counted(tmp_path: Path) -> None:
    known = {name: tmp_path / f"{name}.py" for name in ("user", "part", "shared", "other")}
    known["room"], known["handed_out"] = tmp_path / "room" / "__init__.py", tmp_path / "handed_out.py"
    uses = {"user": {"part", "shared", "room"}, "other": {"shared"}, "room": {"handed_out"}}
    assert with_one_importer(known, uses) == ["part"]
    known["part"].write_text('"""A part.\n\nA module of its own, because it runs as a program."""\n')
    assert not without_reason(known["part"])
    known["part"].write_text('"""A part."""\n')
    assert without_reason(known["part"])
