"""Small questions about a C++ text: calls, comments, tokens, and the uses of a name."""

from __future__ import annotations

import pytest

from gn_tutorial.cpp.queries import (
    calls,
    comments,
    fingerprint,
    is_used,
    named_structs,
    prototypes,
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
