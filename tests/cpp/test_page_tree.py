"""The nodes of the playground's page say what those of tree_sitter say, and have what ``cpp/`` asks of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tree_sitter
from tree_rows import FIELDS, KINDS, LANGUAGE, rows

from gn_tutorial.course.playground.assemble import python_files
from gn_tutorial.cpp import page_tree, syntax
from gn_tutorial.cpp.launches import has_main, launches, rewrite, without_launchers
from gn_tutorial.operators.registry import kernels_root

TEXTS = {
    "chinese": '// 内核 🙂\nint 数 = f(/* 一 */ 1, "二"); struct 类 { int a; 类* b; };',
    "broken": "void f() { g(1; }\nint x = ;\nstruct { ) k( }\n#if 1\nint y",
    "empty": "",
    "kernel": (kernels_root() / "copy" / "copy.cpp").read_text(encoding="utf-8"),
}
SAME = ("type start_byte end_byte is_named is_error is_missing has_error child_count named_child_count").split()
Node = tree_sitter.Node | page_tree.Node


def both(text: str) -> tuple[tree_sitter.Node, page_tree.Node]:
    here = tree_sitter.Parser(LANGUAGE).parse(text.encode()).root_node
    return here, page_tree.Tree(page_tree.Language((KINDS, FIELDS)), rows(text.encode())).root_node


def said(node: Node | None) -> Any:
    return node and [getattr(node, name) for name in SAME]


def relatives(node: Node) -> Iterator[Any]:
    yield said(node.parent)
    yield from ([said(one) for one in found] for found in (node.children, node.named_children))
    yield said(node.named_child(1)) if node.named_child_count > 1 else None
    for name in FIELDS[1:]:
        yield said(node.child_by_field_name(name))
        yield [said(one) for one in node.children_by_field_name(name)]


def walked(node: Node) -> Iterator[Node]:
    cursor = node.walk()
    while cursor.node is not None:
        yield cursor.node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


@pytest.mark.parametrize("name", TEXTS)
def test_each_node_and_its_relatives_are_those_of_tree_sitter(name: str) -> None:
    for here, there in zip(walked(both(TEXTS[name])[0]), walked(both(TEXTS[name])[1]), strict=True):
        assert [said(here), *relatives(here)] == [said(there), *relatives(there)]


def test_a_cursor_does_not_leave_its_node_and_nodes_are_equal_by_place() -> None:
    here, there = (one.children[0] for one in both("int a; int b;"))
    assert [said(one) for one in walked(here)] == [said(one) for one in walked(there)]
    assert there.children[0].parent == there
    assert len({there, there.children[0].parent, there.children[0]}) == 2


def test_launches_are_read_from_the_page_s_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "_parsed", lambda text: page_tree.Tree(page_tree.Language((KINDS, FIELDS)), rows(text)))
    syntax.parse.cache_clear()
    text = "void f() { ICPU_RUN_KF(k, 8, x); }\nvoid g() { k<<<8, 0, s>>>(x); }\nint main() { g(); }\n"
    assert launches(text.splitlines()[0])
    assert not launches('void f() { puts("ICPU_RUN_KF"); }')
    assert has_main(text)
    assert rewrite(text, Path("/nowhere/a.asc")).text.count("gn_twin::host::Start") == 1
    assert "k<<<" not in without_launchers(text)
    syntax.parse.cache_clear()


def test_nodes_have_every_attribute_that_the_page_asks_for() -> None:
    """``Syntax.text`` and ``line`` are asked instead of ``text`` and the points, which the page's nodes lack."""
    files = {path: text for path, text in python_files().items() if path.startswith("gn_tutorial/cpp/")}
    assert "gn_tutorial/cpp/page_tree.py" in files
    asked = set(re.findall(r"\.(\w+)", "".join(files.values())))
    public = {name for name in dir(tree_sitter.Node) if not name.startswith("_")} - {"text"}
    assert asked & public <= set(dir(page_tree.Node))
    assert not {path for path, text in files.items() if "import tree_sitter" in text or "from tree_sitter" in text} - {
        "gn_tutorial/cpp/syntax.py"
    }
