"""The syntax tree of C++ text: places that stay true, CANN's words, errors about which nothing is claimed, bounds."""

from __future__ import annotations

import time

import pytest

from gn_tutorial.cpp.dataflow import SourceFlow
from gn_tutorial.cpp.entries import scan
from gn_tutorial.cpp.forbidden_calls import KernelText, forbidden
from gn_tutorial.cpp.portability_rules import OwnText, find
from gn_tutorial.cpp.syntax import DEEPEST, MOST_BYTES, parse
from gn_tutorial.errors import ArgumentError

KERNEL = """// 内核
#define __gm__
#ifdef __aicore__
#endif
extern "C" __global__ __aicore__ __simd_vf__ void f(__gm__ uint8_t* x, GM_ADDR y) __mix__(1, 2)
{
  auto* z = reinterpret_cast<__gm__ float*>(x); /* 数 */ g<<<8, nullptr, stream>>>(x);
}
"""


def test_nodes_have_the_text_and_the_line_as_they_were_given() -> None:
    syntax = parse(KERNEL)
    assert not syntax.root.has_error
    (function,) = syntax.nodes("function_definition")
    assert (syntax.line(function), syntax.text(function)[:10]) == (5, "__global__")
    assert "__mix__(1, 2)" in syntax.text(function)
    (launch,) = syntax.nodes("kernel_call_syntax")
    assert (syntax.line(launch), syntax.text(launch)) == (7, "<<<8, nullptr, stream>>>")
    assert [syntax.text(one) for one in syntax.nodes("parameter_declaration")] == ["uint8_t* x", "GM_ADDR y"]
    assert [syntax.text(one) for one in syntax.nodes("comment")] == ["// 内核", "/* 数 */"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("if ASCEND_IS_AIC { f(); } else if ASCEND_IS_AIV { g(); } else { h(); }", "else { h(); }"),
        ("__VEC_SCOPE__ { f(); } __BLOCK_LOCAL__ Room room;", "Room room;"),
        ("this->queue.template FreeTensor(x); queue->template EnQue(x);", "x"),
        ("(object->*step)(3); f(__FILE__, __LINE__);", "step"),
        ("[host, aicore] Half(3); [aicore] Half(4);", "Half(3)"),
    ],
)
def test_what_the_grammar_does_not_know_is_no_error(text: str, part: str) -> None:
    syntax = parse(f"void f() {{ {text} }}")
    assert not syntax.root.has_error
    kinds = ("else_clause", "declaration", "identifier", "field_identifier", "call_expression")
    assert part in [syntax.text(one) for one in syntax.nodes(*kinds)]


def test_outer_nodes_come_first_and_only_those_within() -> None:
    syntax = parse("void f() { g(h(1)); } void k() { m(); }")
    calls = list(syntax.nodes("call_expression"))
    assert [syntax.text(one) for one in calls] == ["g(h(1))", "h(1)", "m()"]
    assert [syntax.text(one) for one in syntax.nodes("call_expression", within=calls[0])] == ["g(h(1))", "h(1)"]


def test_nodes_by_type_stand_in_the_text_s_order() -> None:
    """Of so many nodes the order of a set, which the parser's query returns, is another one."""
    calls = " ".join(f"for (;;) {{ g{one}(h(1), (2)); }}" for one in range(50))
    syntax = parse(f"void f() {{ {calls} template template {calls} }} {calls} @ {calls}")
    types = ("call_expression", "for_statement", "number_literal")
    assert syntax.root.has_error
    for name, nodes in syntax.by_type(types).items():
        assert nodes == list(syntax.nodes(name)), name
    assert syntax.errors() == sorted(syntax.errors(), key=lambda one: one.start_byte)


def test_what_is_around_and_before_a_node_is_what_the_parser_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for climbs in (0, 1000):
        monkeypatch.setattr("gn_tutorial.cpp.syntax._MOST_CLIMBS", climbs)
        parse.cache_clear()
        syntax = parse(KERNEL + "int x = ;\nvoid h() { ) k( }\n")
        waiting = [syntax.root]
        for node in waiting:
            waiting += node.children
            assert (syntax.parent(node), syntax.before(node)) == (node.parent, node.prev_sibling)
        call = next(syntax.nodes("call_expression"))
        around = [one.type for one in syntax.enclosing(call, "declaration", "function_definition")]
        assert around == ["declaration", "function_definition"]
        assert list(syntax.enclosing(None, "declaration")) == []
    parse.cache_clear()


def test_nothing_is_found_inside_an_error() -> None:
    syntax = parse("void f() { g(1); }\nvoid h() { ) k( }\nint x = ;\n")
    assert [syntax.text(one) for one in syntax.nodes("call_expression")] == ["g(1)"]
    assert not [one for one in syntax.nodes("identifier") if one.is_missing]


@pytest.mark.parametrize(
    "text",
    ["", "int a;\0int b;", "\udcff\udcfe", "f(" * 10_000, "{" * 10_000, '"abc', 'R"x(', "/*", "'",
     "#if 1\n" * 10_000, "struct A {" * 10_000, "@#$;" * 100_000, "__mix__(" * 10_000],
)  # fmt: skip
def test_text_that_is_no_code_is_read_all_the_same(text: str) -> None:
    started = time.process_time()
    syntax = parse(text)
    assert [one for one in syntax.nodes("call_expression") if one.has_error] == []
    assert time.process_time() - started < 60


def nested(before: str, middle: str, after: str = "", *, times: int) -> str:
    """Return a kernel, whose body nests something so many times."""
    return f"__global__ void k(int n) {{\n{before * times}{middle}{after * times};\n}}\n"


NESTED = [
    ("(", "n", ")"), ("{", "n = n;", "}"), ("n = ", "n"), ("n + ", "n"), ("n < ", "n"), ("- ", "n"), ("f(", "n", ")"),
    ("n ? n : ", "n"), ("if (n) n = 1; else ", "n = 2"), ("for (;;) ", "n = 1"), ("A<", "n", ">"), ("*", "n"),
    ("#if 1\n", "n;\n", "#endif\n"), ("#if 1\n", "#if 1\n", "#elif 1\nn;\n"), ("namespace a {", "", "}"),
    ("", "n", ".a"), ("", "n", "->a()"), ("", "n", "[1]"), ("", "n", "::a"), ("", "n", ",n"),
]  # fmt: skip


@pytest.mark.parametrize("part", NESTED, ids=str)
def test_what_is_nested_deeply_is_read_by_all_or_refused_in_a_sentence(part: tuple[str, ...]) -> None:
    for times in (DEEPEST // 3, 20 * DEEPEST):
        text = nested(*part, times=times)
        own = OwnText(text, (("k.cpp", 1),) * text.count("\n"))
        assert find(own) == ()
        assert [one.name for one in scan(text).entries] in (["k"], [])
        for note in scan(text).notes:
            assert note.text.startswith(("C++ source nested", "a syntax error"))
        if times < DEEPEST:
            flow = SourceFlow(text)
            assert [list(flow.global_places(one, always=True)) for one in flow.statements(2)[:1]] in ([], [[]])


def test_the_deepest_text_is_read_and_the_next_is_refused() -> None:
    assert parse(f"int v = {'(' * (DEEPEST - 3)}1{')' * (DEEPEST - 3)};").root.has_error is False
    with pytest.raises(ArgumentError, match="line 2 is"):
        parse(f"int v =\n{'(' * DEEPEST}1{')' * DEEPEST};")


REPEATED = {
    "declarations": "int n = n + 1;\n" * 200,
    "overloads": "".join(f"void Sum(A{at} n) {{ Sum(n); }}\n" for at in range(200)),
    "directives": "".join(f"namespace n{at} {{ void Sum(int n); }}\nusing namespace n{at};\n" for at in range(200))
    + "void F() { Sum(1); n1::Sum(1); }\n" * 200,
    "nested directives": "namespace n0 {}\n"
    + "".join(f"using namespace n{at};\nnamespace n{at} {{ namespace n{at + 1} {{}} }}\n" for at in range(300)),
}


@pytest.mark.parametrize("name", REPEATED)
def test_names_that_lead_to_too_much_are_left_or_refused_in_a_sentence(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gn_tutorial.cpp.scopes.MOST_STEPS", 10_000)
    text = REPEATED[name] + "__global__ __aicore__ void k(GM_ADDR x) { f(n); }\n"
    own = OwnText(text, (("k.cpp", 1),) * (text.count("\n") + 1))
    assert find(own) == ()
    if name in ("overloads", "directives"):
        with pytest.raises(ArgumentError, match="is not read: its names lead to more than"):
            forbidden(("Sum",), [KernelText(own)])
    flow = SourceFlow(text)
    for line in (1, 100, 201):
        for statement in flow.statements(line)[:1]:
            list(flow.global_places(statement, always=True))


def test_a_parse_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gn_tutorial.cpp.syntax.MOST_SECONDS", 0)
    with pytest.raises(ArgumentError, match="s to parse"):
        parse("[[a]]" * 300 + "int a;")


def test_a_text_beyond_the_bound_is_refused_in_a_sentence() -> None:
    with pytest.raises(ArgumentError, match="is not read"):
        parse("int a;\n" * MOST_BYTES)
