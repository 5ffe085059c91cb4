"""Small questions about a C++ text: calls, comments, tokens, and the uses of a name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gn_tutorial.cpp.entries import has_marked
from gn_tutorial.cpp.literals import has_word
from gn_tutorial.cpp.queries import (
    calls,
    comments,
    fingerprint,
    is_host_source,
    is_used,
    named_structs,
    names_matmul,
    prototypes,
    registered_operators,
    registered_structs,
    template_parameters,
    with_comments,
    words,
)


def test_calls_of_members_templates_and_macros_but_none_in_comments_and_strings() -> None:
    text = """
    // Add(a);
    const char* s = "Add(b)";
    void f() { x.Add(c, g(1, 2)); a::Add<float, 16>(d); this->q[0].Add(); Adds(e); }
    namespace n {
    Add(Op, n::S)
    }
    """
    found = [(one.arguments, one.types, one.line) for one in calls(text, "Add")]
    assert found == [
        (("c", "g(1, 2)"), (), 4),
        (("d",), ("float", "16"), 4),
        ((), (), 4),
        (("Op", "n::S"), (), 6),
    ]
    assert [one.name for one in calls("void f() { Add(b(1)); }")] == ["Add", "b"]


def test_a_call_is_placed_at_its_name_in_characters() -> None:
    (one,) = calls('void f() {\n  "é"; x\n    .Add(1,\n 2); }', "Add")
    assert (one.line, one.column, one.end) == (3, 6, 4)
    (one,) = calls("/* é */ Add(1);", "Add")
    assert one.column == 9


def test_a_call_behind_a_signature_in_two_branches_is_found() -> None:
    """The braces of such a function do not match in the text, so the parser sees an error."""
    text = "#if A\nvoid k(int x) {\n#else\nvoid k() {\n#endif\n  pipe.InitBuffer(in, 1, 4096);\n}\n"
    assert [one.arguments[0] for one in calls(text, "InitBuffer")] == ["in"]


def test_tiling_structs_that_a_text_registers_and_names() -> None:
    text = "namespace o {\nREGISTER_TILING_DATA_CLASS(Op, A)\nREGISTER_TILING_DATA_CLASS(Op_12, o::B);\n"
    text += "REGISTER_TILING_DATA_CLASS(OpOther, C)\nREGISTER_TILING_DATA_CLASS(Op_x, D)\n}\n"
    assert registered_structs(text, "Op") == ["A", "o::B"]
    text = "void k() { REGISTER_TILING_DEFAULT(A); GET_TILING_DATA_WITH_STRUCT(o::B, t, x); c->GetTilingData<C>(); }"
    assert named_structs(text + "// REGISTER_TILING_DEFAULT(D);\n") == ["A", "o::B", "C"]


#: What decides a source's role, as it stands in code.
ROLES = ("OP_ADD(Op);", "class A : public OpDef { A(const char* n) : OpDef(n) {} };", "int F(gert::TilingContext* c);",
         "REGISTER_TILING_TEMPLATE(Op, A, 3);", "IMPL_OP(Op).Tiling(F);", "matmul_tiling::M m;",
         "void k() { REGIST_MATMUL_OBJ(&pipe, x, mm); }", "__global__ __aicore__ void k(GM_ADDR x) {}")  # fmt: skip
#: Where such a line decides nothing.
INERT = ("// {}", "/* {} */", 'const char* s{n} = "{}";', 'auto r{n} = R"({})";', "#if 0\n{}\n#endif",
         "#if false\n#else\n#endif\n#if 1\n#else\n{}\n#endif", "#define UNUSED{n}(x) {}", "// \\\n{}",
         "namespace own{n} {{ class OpDef {{}}; struct B : public OpDef {{}}; }}",
         "struct Context{n} {{ int OP_ADD, gert; }};",
         "int a{n} = 3; int b{n} = a{n} < 4 && a{n} > 2;")  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(INERT), st.sampled_from(ROLES)), max_size=6), st.none() | st.sampled_from(ROLES)
)
def test_a_role_is_in_code_and_not_in_comments_literals_macros_and_own_names(
    inert: list[tuple[str, str]], real: str | None
) -> None:
    parts = [form.format(line, n=number) for number, (form, line) in enumerate(inert)]
    text = "\n".join([*parts[::2], real or "", *parts[1::2], ""])
    is_kernel, is_matrix = (
        real is not None and any(word in real for word in words) for words in (("__gl",), ("mat", "MAT"))
    )
    assert (is_host_source(text), names_matmul(text), has_marked(text)) == (
        real is not None and not (is_kernel or is_matrix), is_matrix, is_kernel,
    )  # fmt: skip
    assert registered_operators(text) == (["Op"] if real in ("OP_ADD(Op);", "IMPL_OP(Op).Tiling(F);") else [])


@pytest.mark.parametrize(
    ("text", "operators"),
    [
        ("#define ADD(T) OP_ADD(T)\nADD(One);\nADD(Two);", ["One", "Two"]),
        ("#define ADD OP_ADD\nnamespace n { ADD(One);\n}", ["One"]),
        ("namespace n { OP_ADD ( One )\n}  // no semicolon", ["One"]),
        ("void f() { int a = b < c; uint32_t d = e > (\nIMPL_OP_OPTILING(One)\n .Tiling(F);", ["One"]),
        ("#ifdef A\nOP_ADD(One);\n#else\nOP_ADD(Two);\n#endif", ["One", "Two"]),
        ("#define OP_ADD(T) static T made##T\n#undef OP_ADD\nint n;", []),
        ("OP_ADD(One" + ", x" * 300 + ");\n#define A B B\n#define B C C OP_ADD\n", ["One"]),
    ],
)
def test_operators_are_registered_behind_macros_and_in_text_that_the_parser_does_not_understand(
    text: str, operators: list[str]
) -> None:
    assert registered_operators(text) == operators
    assert is_host_source(text) == bool(operators)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("namespace own { class OpDef {}; } struct B : own::OpDef {};", False),
        ("namespace own { class OpDef {}; } struct B : ops::OpDef {};", True),
        ("namespace own { class OpDef {}; } using own::OpDef; struct B : OpDef {};", False),
        ("namespace ops { class OpDef; void Fill(OpDef& def); }", True),
        ("namespace own { struct OpDef {}; struct B : OpDef {}; } namespace ops { struct B : OpDef {}; }", True),
        ("int F(gert\n :: TilingContext* c);", True),
        ("int F(TilingContext* c); gert::Shape s; own::gert_ t;", False),
    ],
)
def test_a_class_or_a_name_like_one_of_the_library_s_makes_no_host_source(text: str, host: bool) -> None:
    assert is_host_source(text) == host


def test_a_word_stands_in_code_or_a_literal_not_in_a_comment() -> None:
    assert [has_word(text, "Op") for text in ('f("Op");', "Op::F();", "// Op\n/* Op */ Ops OpX", "")] == [
        True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "used"),
    [
        ("op.Init(workspace);", True),
        ("auto* p = workspace + 4;", True),
        ("int sizes[workspace];", True),
        ("(void)workspace;", False),
        ("(void) workspace;", False),
        ("int workspace = 0;", False),
        ("this->workspace = 0; // workspace", False),
        ("", False),
    ],
)
def test_a_parameter_that_is_only_silenced_is_not_used(body: str, used: bool) -> None:
    for parameter in ("GM_ADDR workspace", "__gm__ uint8_t* workspace", "GM_ADDR& workspace"):
        assert is_used("workspace", f"void k({parameter}) {{ {body} }}") == used


def test_words_are_code_without_directives_and_what_never_counts() -> None:
    text = "#include <a>\n#define B half\n#if 0\nold;\n#else\nint c = 1'000; // d\n#endif\n"
    text += '#ifdef E\ns = u8"f g";\n#endif\n'
    assert " ".join(words(text)) == 'int c = 1\'000 ; s = u8"f g" ;'
    assert {"half", "B", "E"} <= set(words(text, directives=True)) - {"old"}


def test_a_fingerprint_keeps_what_a_copy_changes_out() -> None:
    one = "void Own(int length) { AscendC::Add(x, y, length); }"
    other = "// mine\nvoid Other(int n)\n{\n  Add(a, b, n);\n}"
    assert list(fingerprint(one, ("Add",))) == list(fingerprint(other, ("Add",)))
    assert list(fingerprint(one, ("Add",))) != list(fingerprint(one.replace("int", "float"), ("Add",)))


def test_comments_and_a_text_with_other_ones() -> None:
    text = 'int a;  // one\n/* two */ const char* s = "// three";\n'
    assert comments(text) == [(1, "// one"), (2, "/* two */")]
    assert with_comments(text, lambda one: "" if "one" in one else one) == text.replace("  // one", "")


def test_parameters_of_a_template() -> None:
    text = (
        "template <class A> void k();\ntemplate <typename T, int N = 3>\n__global__ __aicore__ void f(GM_ADDR x) {}\n"
    )
    assert template_parameters(text, "f") == ["typename T", "int N = 3"]
    assert template_parameters(text, "g") == []


def test_prototypes_of_a_header() -> None:
    text = (
        "/* Kernel: a/b. */\nAPI Status Go(const Tensor* x, void** y);\nAPI const char* Say(void);\nint Other(int z);\n"
    )
    assert list(prototypes(text, "API")) == [
        ("Go", "Status", ("const Tensor* ", "void** "), "/* Kernel: a/b. */"),
        ("Say", "const char*", (), ""),
    ]
    assert [one.name for one in prototypes("API int First(int);", "API")] == ["First"]
