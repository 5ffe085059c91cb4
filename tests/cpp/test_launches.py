"""The source pass of whole samples: launches become calls, main gets another name, lines keep their numbers."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gn_tutorial.cpp.launches import MAIN, has_main, is_sample, launches, rewrite, without_launchers
from gn_tutorial.cpp.syntax import MOST_BYTES
from gn_tutorial.errors import ArgumentError

HERE = Path("/nowhere/sample.asc")


def one_line(text: str) -> str:
    return " ".join(rewrite(text, HERE).text.split())


@pytest.mark.parametrize(
    ("launch", "call"),
    [
        ("k<<<8, nullptr, s>>>(x, n);", 'Start("k", 8, nullptr, s)([&] { k(x, n); });'),
        ("a::k<<<8, 0, s>>>();", 'Start("a::k", 8, 0, s)([&] { a::k(); });'),
        ("::k<<<n, 0>>>(x);", 'Start("::k", n, 0)([&] { ::k(x); });'),
        ("k<float, 16><<<8, 0, s>>>(x);", 'Start("k<float, 16>", 8, 0, s)([&] { k<float, 16>(x); });'),
        (
            "k<A<B<int>>><<<f(1, 2), 0, s>>>(g(x));",
            'Start("k<A<B<int>>>", f(1, 2), 0, s)([&] { k<A<B<int>>>(g(x)); });',
        ),
        ("k<(3 > 2)> <<<1, 0, s>>> (x);", 'Start("k<(3 > 2)>", 1, 0, s)([&] { k<(3 > 2)>(x); });'),
        ("k<<<(a >> 1), 0, s>>>(x);", 'Start("k", (a >> 1), 0, s)([&] { k(x); });'),
        ("k /* 核 */ <<<1, 0, s>>> /* b */ (x);", 'Start("k", 1, 0, s)([&] { k(x); });'),
        (
            "k<<<1>>>(l<<<2>>>(x));",
            'Start("k", 1)([&] { k(::gn_twin::host::Start("l", 2)([&] { l(x); })); });',
        ),
        ("CHECK(x) k<<<1, 0, s>>>(x);", 'Start("k", 1, 0, s)([&] { k(x); });'),
    ],
)
def test_a_launch_becomes_a_call(launch: str, call: str) -> None:
    before = "CHECK(x) " if launch.startswith("CHECK") else ""
    assert one_line(f"void f() {{ {launch} }}") == f"void f() {{ {before}::gn_twin::host::{call} }}"


@pytest.mark.parametrize(
    "text",
    [
        "// k<<<1, 0, s>>>(x);\n",
        'const char* t = "k<<<1, 0, s>>>(x);";\n',
        "int a = b << 3; int c = d<e<f;\n",
        "k<<<1, 0, s\n",
        "k<<<1, 0, s>>>\n",
        "<<<1>>>(x)\n",
        "#include <vector>\nint f(int x) { return x >> 2; }\n",
        "int maintain(int x); struct S { int main; }; void f() { obj.main(1); }\n",
    ],
)
def test_everything_else_stays(text: str) -> None:
    assert rewrite(text, HERE).text == text


def test_main_is_renamed_and_returns_0() -> None:
    text = "int32_t main(int32_t argc, char* argv[])\n{\n  if (argc) { return 1; }\n}\nint x;\n"
    wanted = f"int32_t {MAIN}(int32_t argc, char* argv[])\n{{\n  if (argc) {{ return 1; }}\nreturn 0; }}\nint x;\n"
    sample = rewrite(text, HERE)
    assert sample.has_main
    assert sample.text == wanted


@pytest.mark.parametrize(
    "text",
    [
        "int main() {}",
        "aclError main(int argc, char* argv[]) {}",
        "namespace a { auto main() -> int { return 0; } }",
        "#ifdef A\nint main()\n#else\nint other()\n#endif\n{ }",
        "#if 0\n#elif X\nint main() {}\n#endif\n",
        "void f() { if (x) {\n}\nint main() { k<<<1, 0, s>>>(x",
        "int main(int argc,",
        "int x = ;\nint main() { return 0 }",
    ],
)
def test_has_main(text: str) -> None:
    assert has_main(text)
    assert MAIN in rewrite(text, HERE).text


@pytest.mark.parametrize(
    "text",
    [
        "#if 0\nint main() {}\n#endif\n// int main() {}\nint domain(int x);",
        "#if 1\n#else\nint main() {}\n#endif\n",
        "struct S { int main() { return 1; } };",
        "int main(int argc, char** argv);",
        "void f() { int main(3); main(); }",
        'const char* text = R"(\nint main() {}\n)";',
    ],
)
def test_has_no_main(text: str) -> None:
    assert not has_main(text)
    assert rewrite(text, HERE).text == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("void f() { k<<<1, 0, s>>>(x); }", True),
        ("int main() { ICPU_RUN_KF((k<0>), 8, x); }", True),
        ("#define RUN(K) ICPU_RUN_KF(K, 8, x)\n", True),
        ("#define RUN(K) K<<<1, 0, s>>>(x)\n", True),
        ('int main() { puts("ICPU_RUN_KF(k, 8, x) or k<<<1>>>(x)"); } // k<<<1>>>(x)', False),
        ("#if 0\nvoid f() { k<<<1, 0, s>>>(x); }\n#endif\n", False),
    ],
)
def test_launches(text: str, found: bool) -> None:
    assert launches(text) is found


def test_a_launch_in_a_macro_may_have_a_pasted_name() -> None:
    text = "#define RUN(T) \\\n  if (x) \\\n    k_##T<<<b, nullptr, s>>>( \\\n      x); else l ## T<<<b>>>()\n"
    assert rewrite(text, HERE).text == (
        '#define RUN(T) \\\n  if (x) \\\n    ::gn_twin::host::Start("k_##T", b, nullptr, s)([&] { k_##T( \\\n'
        '      x); }); else ::gn_twin::host::Start("l ## T", b)([&] { l ## T(); })\n'
    )


def test_text_beyond_the_bound_of_the_parser_is_refused_with_its_file(tmp_path: Path) -> None:
    """It is looked at only if the word or the sign is there at all."""
    text = "int a;\n" * (MOST_BYTES // 7 + 1)
    assert not has_main(text)
    assert not is_sample(text, tmp_path)
    (tmp_path / "large.h").write_text(text + "void f() { k<<<1>>>(x); }\n")
    for call in (lambda: has_main(text + "int main() {}", HERE), lambda: is_sample('#include "large.h"\n', tmp_path)):
        with pytest.raises(ArgumentError, match="is not read: the limit is") as caught:
            call()
        assert caught.value.where in (str(HERE), str(tmp_path / "large.h"))


def test_lines_that_if_0_leaves_out_stay_and_move_nothing() -> None:
    left_out = '#if 0  // 旧\n#include "inner.h"\nint main() { k<<<1, 0, s>>>(旧); }\n#endif\n'
    assert rewrite(left_out + "void f() { k<<<1>>>(x); }\n", HERE).text == (
        left_out + 'void f() { ::gn_twin::host::Start("k", 1)([&] { k(x); }); }\n'
    )


def test_every_line_keeps_its_number() -> None:
    text = (
        "#define RUN(K) \\\n  K<<<1, 0, s>>>(x)\nvoid f() {\n  kernel<float,\n    16>\n  <<<\n    blocks,\n"
        "    nullptr, s\n  >>>(x,  // first\n    here);\n}\nint main() { here2; }\n"
    )
    made = rewrite(text, HERE).text
    assert made.count("\n") == text.count("\n")
    for mark in ("blocks", "here)", "here2", "nullptr, s"):
        assert [mark in line for line in made.splitlines()].index(True) == [
            mark in line for line in text.splitlines()
        ].index(True)
    assert "\\\n  ::gn_twin::host::Start" in made or "Start(" in made.splitlines()[1]


def test_an_included_file_with_launches_is_put_in_place(tmp_path: Path) -> None:
    (tmp_path / "inner.h").write_text("#pragma once\nvoid go() { k<<<1, 0, s>>>(x); }\n")
    (tmp_path / "plain.h").write_text("int plain;\n")
    main = tmp_path / "main.asc"
    text = '#include "plain.h"\n#include "inner.h"\nint main() { go(); }\n'
    main.write_text(text)
    assert is_sample("int x;\n" + text.replace("int main", "int other"), tmp_path)
    sample = rewrite(text, main)
    assert '#include "plain.h"' in sample.text
    assert f'#line 1 "{tmp_path / "inner.h"}"' in sample.text
    assert f'#line 2 "{main}"\n' in sample.text
    assert "<<<" not in sample.text
    left_out = f'#if 0\n#include "inner.h"\n#endif\n/*\n#include "inner.h"\n*/\n{text}'
    assert rewrite(left_out, main).text.splitlines()[:6] == left_out.splitlines()[:6]


@given(st.text(alphabet="ab <>(){}\"'/*\n\\#;,:kR", max_size=60))
def test_any_text_is_read_to_its_end_and_keeps_its_lines(text: str) -> None:
    assert rewrite(text, HERE).text.count("\n") >= text.replace("\r\n", "\n").count("\n")
    assert not launches(text) or "<<<" in text


def test_a_project_s_build_leaves_functions_that_launch_empty() -> None:
    text = """namespace ops {
extern "C" __global__ __aicore__ void add(GM_ADDR x) { if (x << 1 > 2) { Do(x); } }
#ifndef ASCENDC_CPU_DEBUG
void add_do(uint32_t blocks, void* stream, uint8_t* x) noexcept {
  // {
  add<<<blocks, nullptr, stream>>>(x);
  Free(nobodyDeclaredThis);
}
struct Host {
  void Run() const { add<<<1, nullptr, 0>>>(x_); }
  int Other() { return 3 }
};
#endif
}
"""
    left = without_launchers(text)
    assert left.count("\n") == text.count("\n")
    assert "add_do(uint32_t blocks, void* stream, uint8_t* x) noexcept {\n\n\n\n}" in left
    assert "void Run() const {}" in left
    assert "nobodyDeclaredThis" not in left
    assert "Do(x); } }" in left
    assert "return 3 }" in left
    assert without_launchers(text.replace("<<<", "<< <")) == text.replace("<<<", "<< <")
