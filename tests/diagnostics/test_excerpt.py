"""Lines of a kernel with marks: which call is meant, where it starts, what else is marked."""

from pathlib import Path

import pytest

from gn_tutorial.cpp.source_line import find_name
from gn_tutorial.diagnostics.excerpt import Excerpt, excerpt, joined
from gn_tutorial.diagnostics.rendering import plain, source_lines


def write(folder: Path, line: str) -> str:
    path = folder / "kernel.cpp"
    path.write_text(f"{line}\n")
    return str(path)


def marks(found: Excerpt) -> str:
    return plain(source_lines([found])).splitlines()[-1].partition(" | ")[2]


@pytest.mark.parametrize(
    ("line", "name", "column"),
    [
        ("  Add(z, x, y, 8);", "Add", 3),
        ("  AscendC::Add(z, x, y, 8);", "Add", 12),
        ("  Cast<half, float>(z, x, mode, 8);", "Cast", 3),
        ("  auto v = t.GetValue(3);", "GetValue", 14),
        ("  auto t = queue->AllocTensor<float>();", "AllocTensor", 19),
        ("  auto t = buffer.Get<LocalTensor<float>>(8);", "TBuf::Get", 19),
        ("  Add(z, Add, y);  // a call first", "Add", 3),
        ("  f(Add); Add (z);", "Add", 11),
        ("  Add(a); Add(b);", "Add", 3),
        ("  Adds(a); /* Add( */ Add(b);", "Add", 23),
        ('  printf("Add("); Add(b);', "Add", 19),
        ("  LocalTensor<float> a(position, 0, 8);", "LocalTensor", 3),
        ("\tAdd(z, x, y, 8);", "Add", 2),
        ("  Adds(z, x, 1.0f, 8);", "Add", 0),
        ("  t[4] = 1.0f;", "operator()", 0),
    ],
)
def test_the_column_is_that_of_the_call(tmp_path: Path, line: str, name: str, column: int) -> None:
    found = excerpt(write(tmp_path, line), 1, name)
    assert found.column == column
    if column:
        last = name.rpartition("::")[2]
        assert found.text[found.start : found.start + found.length] == last


def test_a_tab_is_one_column_and_four_places(tmp_path: Path) -> None:
    found = excerpt(write(tmp_path, "\tx;\tAdd(y);"), 1, "Add", primary=True)
    assert (found.column, found.start, found.text) == (5, 8, "    x;  Add(y);")
    assert marks(found) == "        ^^^"


def test_without_the_operation_the_first_call_of_the_others_is_marked(tmp_path: Path) -> None:
    file = write(tmp_path, "  queue.EnQue(other);")
    assert excerpt(file, 1, calls=("The", "other", "EnQue")).column == 9
    assert excerpt(file, 1, "DeQue", calls=("EnQue",)).column == 9


def test_a_line_that_names_nothing_is_marked_whole(tmp_path: Path) -> None:
    found = excerpt(write(tmp_path, "  t[4] = 1.0f;  // the tail"), 1, "Add", primary=True)
    assert (found.column, marks(found)) == (0, "  ^^^^^^^^^^^^")
    assert marks(excerpt(write(tmp_path, "  // a comment"), 1)) == "  ------------"


@pytest.mark.parametrize("line", [0, 2, 99])
def test_a_line_that_is_not_there_has_no_text(tmp_path: Path, line: int) -> None:
    assert excerpt(write(tmp_path, "Add(x);"), line, "Add") == Excerpt(str(tmp_path / "kernel.cpp"), line)


def test_a_mention_is_no_call() -> None:
    assert find_name("f(Add);", "Add") == (2, 5)
    assert find_name("f(Add);", "Add", called=True) is None
    assert find_name("a < Add > b;", "Add", called=True) is None


def test_a_line_is_shown_once_with_all_its_labels() -> None:
    first, again = Excerpt("k.cpp", 3, primary=True), Excerpt("k.cpp", 3, label="earlier write")
    other, more = Excerpt("k.cpp", 2, label="made here"), Excerpt("k.cpp", 2, label="freed here")
    shown = joined([first, other, again, more])
    assert [(one.line, one.label) for one in shown] == [
        (3, "earlier write, on the same line"),
        (2, "made here; freed here"),
    ]
    assert shown[0].primary
