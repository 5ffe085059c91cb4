"""A name is imported from the module that defines it, so that a reader who follows an import finds the definition."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gn_tutorial"
#: What hands out the names of others: the ``__init__`` of a folder, and what notebooks share.
DOORS = {"__init__.py", "lessons.py"}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def defined(tree: ast.AST) -> set[str]:
    """Every name that a module binds itself, other than by an import; also what it imports from one of two modules."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            chosen = (one for one in ast.walk(node) if isinstance(one, ast.ImportFrom))
            found |= {alias.name for one in chosen for alias in one.names}
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def borrowed(tree: ast.AST, own: dict[str, set[str]]) -> Iterator[str]:
    """``line: module.name`` of every import from a module that has the name from somewhere else. own: by module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in own:
            for alias in node.names:
                if alias.name not in own[node.module] and f"{node.module}.{alias.name}" not in own:
                    yield f"{node.lineno}: {node.module}.{alias.name}"


def test_no_name_is_imported_from_where_it_was_imported() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
    doors = {path for path in trees if path.name in DOORS}
    own = {module_of(path): defined(tree) for path, tree in trees.items() if path not in doors}
    users = [
        *trees,
        *(path for folder in ("tests", "benchmarks", "tools", "solutions") for path in (ROOT / folder).rglob("*.py")),
    ]
    found = []
    for path in users:
        tree = trees.get(path) or ast.parse(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(ROOT)}:{one}" for one in borrowed(tree, own)]
    assert found == []


def test_all_lists_only_what_its_module_defines() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.name in DOORS:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.Assign) and any(getattr(one, "id", "") == "__all__" for one in node.targets):
                assert set(ast.literal_eval(node.value)) <= defined(tree), path


def test_a_borrowed_name_is_found() -> None:
    own = {"a.low": {"Thing"}, "a.high": {"Other"}}
    text = "from a.high import Other, Thing\nfrom a.low import Thing\nfrom a.unknown import Thing\n"
    assert list(borrowed(ast.parse(text), own)) == ["1: a.high.Thing"]
