"""Compiler errors as a learner sees them: at their own line, in their own words, the first one first.

The table runs the machine's compiler, and zig's where the test's marker asks for it; so it holds for g++ and for clang.
"""

import re
from pathlib import Path

import pytest

from gn_tutorial.compiler.build import build_host_library, build_kernel
from gn_tutorial.compiler.build_request import TWIN_INCLUDE
from gn_tutorial.compiler.cache import Cache
from gn_tutorial.compiler.messages import CompilerMessage, Sources, explain, unsupported_names
from gn_tutorial.compiler.output import Place, parse
from gn_tutorial.compiler.process import CompileLimits, End
from gn_tutorial.cpp.source_text import short
from gn_tutorial.errors import CompileError

KERNEL = """#include "kernel_operator.h"
using namespace AscendC;
template <class T> __aicore__ inline void Apply(T tensor) { Add(tensor, tensor, tensor, 64); }
#define TWICE(a) (a) + (a)
extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y) {
  TPipe pipe; TBuf<TPosition::VECCALC> buf; pipe.InitBuffer(buf, 256);
  LocalTensor<float> t = buf.Get<float>();
%s
}
"""
BODY_LINE = 8

# body of the kernel, line of the first error, what its message says, what its hint says ("" for none)
CASES = {
    "double scalar": (
        "  Muls(t, t, 1.5, 64);",
        8,
        r"no matching function for call to 'Muls",
        r"1\.5 is a double.*1\.5f",
    ),
    "a whole number as scalar": (
        "  Adds(t, t, 1, 64);",
        8,
        r"'Adds",
        r"^1 is of type int; .* type, float: write 1\.0f$",
    ),
    "a variable as scalar": (
        "  uint32_t n = 3; Adds(t, t, n, 64);",
        8,
        r"'Adds",
        r"^a scalar here is of type uint32_t; .* static_cast<float>",
    ),
    "a host's minimum": (
        "  Muls(t, t, 1.5f, std::min(32u, 64u));",
        8,
        r"^(?!.*did you mean).*'min'",
        r"no std::min; AscendC::Std::min is there",
    ),
    "a minimum of AscendC": (
        "  Muls(t, t, 1.5f, AscendC::min(32u, 64u));",
        8,
        r"'min'",
        r"no AscendC::min; AscendC::Std::min is there",
    ),
    "a minimum of two types": ("  Muls(t, t, 1.5f, Std::min(32, 64u));", 8, r"numbers of one type", r"the same type: "),
    "element of a view": ("  float s = 0; s += t[3];", 8, r".", r"t\[3\] is a view.*t\.GetValue\(3\) is the number"),
    "not yet": (
        "  Digamma(t, t, 64);",
        8,
        r"^Digamma is a documented Ascend C name that is not on the twin yet$",
        "gnt apis",
    ),
    "not yet, qualified": ("\n  AscendC::Digamma(t, t, 64);", 9, r"^Digamma is a documented", "gnt apis"),
    "unknown": ("  Fooo(t, t, 64);", 8, r"Fooo.*(not declared|undeclared)|undeclared.*Fooo", "gnt apis"),
    "unknown in the namespace": ("  AscendC::Fooo(t);", 8, r"'Fooo'", "gnt apis"),
    "unknown member": ("  t.Frob(3);", 8, r"no member named 'Frob'", "gnt apis"),
    "semicolon": ("  Add(t, t, t, 64)\n  Add(t, t, t, 64);", 8, r"expected ';'", ""),
    "wrong element type": ("  LocalTensor<int8_t> u; Add(u, u, u, 64);", 8, r"^Add on Atlas A2 takes int16_t", ""),
    "inside the learner's template": ("  Apply(LocalTensor<int8_t>());", 3, r"^Add on Atlas A2 takes", ""),
    "inside the learner's macro": ("  int a = TWICE(nowhere);", 8, r"'nowhere'", "gnt apis"),
    "inside the twin's macro": ("\n  GET_TILING_DATA_WITH_STRUCT(Nope, td, y);", 9, r"'Nope'", "gnt apis"),
    "launch syntax": ("  k<<<1, nullptr, 0>>>;", 8, r"expected", r"kernel<<<blocks, nullptr, stream>>>\(arguments\)"),
    "a branch outside a template": (
        "  if constexpr (sizeof(half) == 2) { Abs(t, t, 64); } else {\n    Adds(buf.Get<half>(), t, 0.0f, 64);\n  }",
        9,
        r"no matching function for call to 'Adds",
        r"outside a template both branches of if constexpr are compiled: write template <typename T>",
    ),
    "a branch inside a template": (
        "  auto widen = [&](auto x) { if constexpr (sizeof(x) == 2) { Adds(t, x, 0, 64); } };\n  widen(half(1));",
        8,
        r"no matching function for call to 'Adds",
        r"^(gnt apis Adds prints its forms)?$",  # clang does not say whose function it is
    ),
    "no body": (
        "  extern void Nobody(int);\n  Nobody(3);",
        9,
        r"^Nobody(\(int\))? is declared and used, but has no body$",
        "body",
    ),
    "two errors": ("  Fooo(t);\n  t.Frob(3);", 8, r"'Fooo'", "gnt apis"),
}
COMPILERS = ["system", pytest.param("zig", marks=pytest.mark.zig)]


@pytest.fixture
def compiler(request: pytest.FixtureRequest) -> str:
    if request.param == "zig":
        request.getfixturevalue("use_zig")()
    return str(request.param)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def failure(source: Path | str) -> CompileError:
    """The error of a build in the suite's cache: zig's C++ library is prepared there once."""
    with pytest.raises(CompileError) as caught:
        build_kernel(source)
    return caught.value


@pytest.mark.parametrize("compiler", COMPILERS, indirect=True)
def test_the_namespace_of_a_name_is_named(compiler: str) -> None:
    source = (KERNEL % "  TEventID id = 0;").replace("using namespace AscendC;", "")
    found = failure(source)
    hints = {error.hint for error in found.errors}
    for name in ("TPipe", "TEventID"):
        written = f"write AscendC::{name}, or 'using namespace AscendC;' at the top"
        assert f"{name} is in the namespace AscendC: {written}" in hints
    assert "did you mean 'TPipe'" not in str(found)


def test_other_arguments_than_a_function_takes() -> None:
    (first, *_) = failure(KERNEL % "  Sub(t, t, 1.5f, 64);").errors
    assert first.hint == "gnt apis Sub prints its forms"
    (first, *_) = failure(KERNEL % "  auto mine = [](int a) {}; mine(t, 3);").errors
    assert not first.hint, "of the learner's own it knows nothing"


@pytest.mark.parametrize("compiler", COMPILERS, indirect=True)
@pytest.mark.parametrize("case", CASES)
def test_errors_of_a_kernel(compiler: str, case: str) -> None:
    body, line, message, hint = CASES[case]
    error = failure(KERNEL % body)
    first = error.errors[0]
    source = (KERNEL % body).splitlines()
    assert (first.line, first.source_line) == (line, source[line - 1])
    assert re.search(message, first.message), first.message
    assert re.search(hint, first.hint) if hint else not first.hint
    assert first.file is not None
    assert first.file.name.startswith("cell_")
    assert error.where.startswith(f"{first.file.name}:{line}")
    assert first.message in error.what
    text = str(error)
    for internal in ("shim", "gn_twin::", "scratch", "In file included"):
        assert internal not in text
    assert "AscendC::" not in error.what
    if case != "two errors":
        assert len(error.errors) == 1


@pytest.mark.parametrize("compiler", COMPILERS, indirect=True)
def test_an_error_in_a_learner_s_header_is_shown_there(compiler: str, tmp_path: Path) -> None:
    (tmp_path / "helper.h").write_text('#pragma once\n#include "kernel_operator.h"\nint Helper() { return nothing; }\n')
    kernel = tmp_path / "k.cpp"
    kernel.write_text('#include "helper.h"\n' + KERNEL % "")
    first = failure(kernel).errors[0]
    assert (first.file, first.line) == (tmp_path / "helper.h", 3)


@pytest.mark.parametrize("compiler", COMPILERS, indirect=True)
def test_a_missing_header_says_where_it_was_looked_for(compiler: str, tmp_path: Path) -> None:
    kernel = tmp_path / "k.cpp"
    kernel.write_text('#include "my_tiling.h"\n' + KERNEL % "")
    error = failure(kernel)
    assert error.errors[0].line == 1
    assert str(tmp_path) in error.hint
    assert "include_dirs" in error.hint
    kernel.write_text('#include "acl/acl_mdl.h"\n' + KERNEL % "")
    assert "host code" in failure(kernel).hint


@pytest.mark.parametrize("compiler", COMPILERS, indirect=True)
def test_an_entry_inside_a_block_that_is_not_compiled(compiler: str) -> None:
    entry = 'extern "C" __global__ __aicore__ void k(GM_ADDR x) {}'
    # Only the compiler knows whether there is such a header.
    source = f'#if __has_include(<never.h>)\n{entry}\n#endif\n#include "kernel_operator.h"\n'
    (first,) = failure(source).errors
    assert (first.line, first.message) == (2, "the kernel entry k is not visible at the end of the file")
    assert "#if" in first.hint


@pytest.mark.parametrize("compiler", COMPILERS, indirect=True)
def test_the_mark_stands_under_the_column(compiler: str) -> None:
    error = failure(KERNEL % "\tint é = 1; t.Frob(é);")
    line, mark = error.detail.splitlines()[:2]
    assert line.endswith("\tint é = 1; t.Frob(é);")
    assert mark.index("^") == line.index("Frob")


@pytest.mark.parametrize("compiler", COMPILERS, indirect=True)
def test_a_missing_semicolon_that_is_noticed_on_the_next_line(compiler: str) -> None:
    (first,) = failure(KERNEL % "  int a = 1\n  int b = 2;").errors
    assert first.line == 8 or (first.line == 9 and "missing at the end of the statement before" in first.hint)


def test_headers_of_a_host_library_are_the_learner_s(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "op_tiling.h").write_text("inline int Tiling() {\n  return missing;\n}\n")
    with pytest.raises(CompileError, match="missing") as caught:
        build_host_library('#include "op_tiling.h"\n', include_dirs=[tmp_path], cache=cache)
    first = caught.value.errors[0]
    assert (first.file, first.line, first.source_line) == (tmp_path / "op_tiling.h", 2, "  return missing;")


def test_no_more_errors_than_one_reads(cache: Cache) -> None:
    body = "\n".join(f"  missing{index};" for index in range(40))
    with pytest.raises(CompileError) as caught:
        build_kernel(KERNEL % body, cache=cache)
    assert [error.line for error in caught.value.errors] == list(range(BODY_LINE, BODY_LINE + 10))


def test_every_name_of_the_list_is_known() -> None:
    names = unsupported_names(TWIN_INCLUDE)
    assert {"Digamma", "BatchNorm"} <= names
    assert not {"Add", "DataCopy", "NAME"} & names
    assert unsupported_names(TWIN_INCLUDE / "none") == frozenset()


# --- texts of compilers and linkers that are not on every machine ----------------------------------------------------

CLANG_CHAIN = """\
In file included from /c/shim.cpp:2:
/twin/gn_twin/tensor/lanes.h:26:19: error: no matching function for call to 'Visit'
   26 |   static_assert(x);
/twin/gn_twin/vector.h:9:3: note: in instantiation of function template 'gn_twin::Run<char>' requested here
/u/me/k.cpp:12:5: note: in instantiation of function template 'AscendC::Add<char>' requested here
/u/me/k.cpp:30:3: note: in instantiation of function template specialization 'Outer<char>' requested here
/u/me/k.cpp:31:1: warning: unused variable 'a' [-Wunused-variable]
/u/me/k.cpp:31:1: note: only of the warning
fatal error: too many errors emitted, stopping now [-ferror-limit=]
1 error generated.
"""
GCC_INLINED = """\
In function 'void f()',
    inlined from 'void g()' at /u/me/k.cpp:4:3,
    inlined from 'void h()' at /u/me/k.cpp:9:3:
/twin/a.h:2:5: error: call to 'stop' declared with attribute error: not on the twin yet: Sort
cc1plus: all warnings being treated as errors
"""
LINKERS = {
    "ld": "/usr/bin/ld: /tmp/ccB.o: in function `run':\nu.cpp:(.text+0xa): undefined reference to `Foo(int)'\n"
    "collect2: error: ld returned 1 exit status",
    "lld": "ld.lld: error: undefined symbol: Foo(int)\n    note: referenced by u.cpp\n",
    "apple": 'Undefined symbols for architecture arm64:\n  "Foo(int)", referenced from:\n      _run in u.o\n'
    "ld: symbol(s) not found for architecture arm64\n",
}


def sources(**changes: object) -> Sources:
    given: dict = {
        "main": Path("/u/me/k.cpp"),
        "shim": Path("/c/shim.cpp"),
        "twin": Path("/twin"),
        "compiler": "clang++",
    }
    return Sources(**given | changes)


def test_the_innermost_of_the_learner_s_lines_is_taken() -> None:
    (report,) = parse(CLANG_CHAIN)
    assert [place.line for place in report.chain] == [9, 12, 30]
    error = explain(End.REFUSED, CLANG_CHAIN, sources(), CompileLimits())
    assert (error.errors[0].file, error.errors[0].line) == (Path("/u/me/k.cpp"), 12)


def test_inlined_functions_lead_to_the_learner_s_line() -> None:
    (report,) = parse(GCC_INLINED)
    assert report.chain == [Place("/u/me/k.cpp", 4, 3), Place("/u/me/k.cpp", 9, 3)]
    error = explain(End.REFUSED, GCC_INLINED, sources(), CompileLimits())
    assert (error.errors[0].line, error.errors[0].message.split()[0]) == (4, "Sort")


@pytest.mark.parametrize(
    "text",
    [
        "In file included from /c/shim.cpp:2,\n                 from /c/other.h:3:\n/c/a.h:1:2: error: x\n",
        "In file included from /c/other.h:3:\nIn file included from /c/shim.cpp:2:\n/c/a.h:1:2: error: x\n",
    ],
)
def test_includes_are_listed_from_the_inside(text: str) -> None:
    (report,) = parse("In file included from /c/before.h:9:\n/c/b.h:1:1: warning: y\n" + text)
    assert report.includes == [Place("/c/shim.cpp", 2), Place("/c/other.h", 3)]


@pytest.mark.parametrize("linker", LINKERS)
def test_functions_without_a_body(linker: str) -> None:
    (report,) = parse(LINKERS[linker])
    assert report.message == "undefined reference to Foo(int)"


@pytest.mark.parametrize(
    "text",
    ["cc1plus: out of memory allocating 65536 bytes", "g++: fatal error: Killed signal terminated program cc1plus"],
)
def test_no_memory(text: str) -> None:
    error = explain(End.REFUSED, text, sources(), CompileLimits())
    assert "needed more than 4 GiB" in error.what


def test_a_compiler_that_crashes_says_so() -> None:
    error = explain(End.KILLED, "Stack dump:\n0. clang", sources(), CompileLimits())
    assert "the compiler itself crashed" in error.what
    assert "Stack dump" in error.detail
    internal = "/u/me/k.cpp:3:1: internal compiler error: Segmentation fault\nPlease submit a full bug report"
    error = explain(End.REFUSED, internal, sources(), CompileLimits())
    assert "internal compiler error" in error.what


def test_words_nobody_foresaw_are_shown_as_they_are() -> None:
    error = explain(End.REFUSED, "something odd\n", sources(shown="k.cpp"), CompileLimits())
    assert (error.what, error.detail) == ("k.cpp does not compile", "something odd")


def test_paths_are_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/u/me")
    assert short(tmp_path / "a" / "k.cpp") == "a/k.cpp"
    assert short(Path("/u/me/kernels/k.cpp")) == "~/kernels/k.cpp"
    assert short(Path("/srv/k.cpp")) == "/srv/k.cpp"
    assert short(Path("/c/sources/cell_12.cpp")) == "cell_12.cpp"
    assert CompilerMessage(tmp_path / "k.cpp", 3, 0, "m", "").where == "k.cpp:3"
