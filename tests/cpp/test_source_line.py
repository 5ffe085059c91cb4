"""What a line of a learner's source says, also where the text has errors."""

from __future__ import annotations

from gn_tutorial.cpp.source_line import buffer_names, first_call, line_facts
from gn_tutorial.cpp.syntax import MOST_BYTES


def test_the_buffers_of_a_line_in_order() -> None:
    text = "void f() {\n  p.InitBuffer(a, 1, n); p.InitBuffer(q[i + 1], n); // p.InitBuffer(b, n);\n"
    text += "  p.InitBuffer(\n    c, n);\n}"
    assert buffer_names(text, 2) == ["a", "q[i + 1]"]
    assert buffer_names(text, 3) == buffer_names(text, 4) == ["c"]
    assert buffer_names(text, 1) == buffer_names("x" * (MOST_BYTES + 1), 1) == []


def test_the_first_call_is_no_declaration() -> None:
    assert first_call("void Nobody(int);\nvoid f() { Nobody(3); }", "Nobody") == (2, 12)
    assert first_call("void Nobody(int);", "Nobody") is None


def test_facts() -> None:
    facts = line_facts("void f() {\n  Adds(t, std::min(1, 2.5), -3); s += v[i + 1];\n  k<<<1, nullptr>>>;\n}", 2)
    assert facts.numbers == ("1", "2.5", "-3", "1")
    assert facts.whole == ("1", "-3")
    assert facts.names == (("std", "min"),)
    assert facts.subscripts == (("v", "i + 1"),)
    assert not facts.launches
    assert line_facts("void f() {\n  k<<<1, nullptr, 0>>>;\n}", 2).launches


def test_a_branch_outside_a_template() -> None:
    branch = "if constexpr (a) {\n  b();\n} else {\n  c();\n}"
    assert [line_facts(f"void f() {{\n{branch}\n}}", line).lacks_template for line in (1, 3, 5, 7)] == [
        False, True, True, False,
    ]  # fmt: skip
    for head in ("template <class T>\nvoid f() {", "\nvoid f(auto x) {", "\nauto f = [](auto x) {"):
        assert not line_facts(f"{head}\n{branch}\n}};", 4).lacks_template
