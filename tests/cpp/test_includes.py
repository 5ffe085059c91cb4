"""Files that a source includes: entries made by macros of a header, operators side by side, CANN's header paths."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from gn_tutorial.compiler.build import build_kernel
from gn_tutorial.compiler.build_request import TWIN_INCLUDE
from gn_tutorial.cpp.included_files import forwarding_headers, read_sources
from gn_tutorial.cpp.includes import includes, with_includes, with_live_lines
from gn_tutorial.cpp.launches import rewrite
from gn_tutorial.cpp.source_text import source_text, with_plain_blanks
from gn_tutorial.errors import CompileError, RegistryError
from gn_tutorial.operators.arguments import inout
from gn_tutorial.operators.kernel import kernel

ENTRY = 'extern "C" __global__ __aicore__ void k(GM_ADDR x) { *(__gm__ int32_t*)x = VALUE; }\n'


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def value_of(path: Path) -> int:
    return int(kernel(path, optimise=False).run(inout(np.zeros(1, np.int32)), blocks=1)["x"][0])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two groups of operators: `add` uses a header of `shared` beside it, that one of `inc` in another group."""
    write(
        tmp_path / "math/shared/op_kernel/base.h", '#pragma once\n#include "../inc/number.h"\n#include "part/own.h"\n'
    )
    write(tmp_path / "math/shared/op_kernel/part/own.h", '#pragma once\n#include "../../inc/sum.h"\n')
    write(tmp_path / "common/inc/op_kernel/number.h", "#pragma once\n#define NUMBER 40\n")
    write(tmp_path / "common/inc/op_kernel/sum.h", "#pragma once\n#define VALUE (NUMBER + 2)\n")
    head = '#include "kernel_operator.h"\n#include "../shared/base.h"\n'
    return write(tmp_path / "math/add/op_kernel/add.cpp", head + ENTRY)


def test_headers_of_other_operators_are_where_a_build_would_put_them(repository: Path) -> None:
    assert value_of(repository) == 42
    # A change behind two such includes is seen.
    write(repository.parents[3] / "common/inc/op_kernel/number.h", "#pragma once\n#define NUMBER 5\n")
    assert value_of(repository) == 7


def test_an_error_there_names_the_file_itself(repository: Path) -> None:
    shared = repository.parents[2] / "shared/op_kernel/base.h"
    shared.write_text("#pragma once\nint broken = ;\n", encoding="utf-8")
    with pytest.raises(CompileError) as caught:
        build_kernel(repository, optimise=False)
    assert f"{shared}:2" in caught.value.errors[0].where


def test_a_header_that_is_there_is_taken_from_there(repository: Path) -> None:
    write(repository.parents[1] / "shared/base.h", "#define VALUE 9\n")
    assert value_of(repository) == 9


def test_a_header_of_nobody_stays_missing(repository: Path) -> None:
    repository.write_text('#include "../nobody/base.h"\n' + ENTRY, encoding="utf-8")
    with pytest.raises(CompileError, match=r"nobody/base\.h"):
        build_kernel(repository, optimise=False)


def test_parts_of_the_interface_by_their_own_headers(tmp_path: Path) -> None:
    names = ("lib/math/kernel_operator_sin_intf.h", "adv_api/reduce/reduce.h", "utils/std/algorithm.h",
             "basic_api/kernel_operator_vec_unary_intf.h")  # fmt: skip
    includes = "".join(f'#include "{name}"\n' for name in names)
    text = includes + "#define VALUE AscendC::Std::max(3, 2)\n" + ENTRY
    assert value_of(write(tmp_path / "k.cpp", text)) == 3
    matrix = (
        "lib/matmul_intf.h",
        "lib/matrix/matmul/matmul.h",
        "basic_api/kernel_operator_mm_intf.h",
        "lib/hccl/hccl.h",
    )
    for name in matrix:
        text = f'#include "{name}"\n'
        assert read_sources(tmp_path / "k.cpp", text, (tmp_path,), TWIN_INCLUDE).forwards == {}


def test_forwarding_headers_lie_where_the_search_folder_leads() -> None:
    made = forwarding_headers({"../a/b.h": "/r/b.h", "lib/x.h": "kernel_operator.h", "../" * 5 + "out.h": "/r/o.h"})
    assert made == {
        "a/b/c/a/b.h": '#pragma once\n#include "/r/b.h"\n',
        "a/b/c/d/lib/x.h": '#pragma once\n#include "kernel_operator.h"\n',
    }


@pytest.mark.parametrize(
    ("header", "head"),
    [
        ('#define KERNEL_API extern "C" __global__ __aicore__', "KERNEL_API void k(GM_ADDR x)"),
        ("#define MARK __global__ \\\n  __aicore__\n#define API MARK void", "API k(GM_ADDR x)"),
        ('#define ENTRY(NAME, ...) extern "C" __global__ __aicore__ void NAME(__VA_ARGS__)', "ENTRY(k, GM_ADDR x)"),
        ("#define NAMED(TYPE) __global__ __aicore__ void k##_##TYPE(GM_ADDR x)", "NAMED(half)"),
    ],
    ids=["a word", "a word of a word", "with arguments", "with pieces of a name"],
)
def test_entries_that_a_macro_of_a_header_makes(header: str, head: str, tmp_path: Path) -> None:
    write(tmp_path / "macros.h", header + "\n")
    text = '#include "kernel_operator.h"\n#include "macros.h"\n\n' + head + " { *(__gm__ int32_t*)x = 6; }\n"
    path = write(tmp_path / "k.cpp", text)
    (entry,) = kernel(path).entries
    assert (entry.name, [param.ctype for param in entry.params], entry.line) == (
        "k_half" if "NAMED" in head else "k", ["GM_ADDR"], 4,
    )  # fmt: skip
    assert value_of(path) == 6


def test_macros_that_refer_to_themselves_end() -> None:
    text = "#define A __global__ B\n#define B A\nA __aicore__ void k(GM_ADDR x) {}\n"
    assert [one.name for one in kernel(source=text).entries] == ["k"]


def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path) -> None:
    """/dev/zero has no end, a pipe nobody writes to blocks its reader, and a sparse file fills the memory."""
    os.mkfifo(tmp_path / "pipe.h")
    with (tmp_path / "large.h").open("wb") as large:
        large.truncate(1 << 40)
    (tmp_path / "zero.h").symlink_to("/dev/zero")
    write(tmp_path / "own.h", "#pragma once\n")
    text = '#include "large.h"\n#include "own.h"\n#include "/dev/null"\nvoid f() { k<<<1, nullptr, nullptr>>>(); }\n'
    path = write(tmp_path / "mine.cpp", text)
    found = read_sources(path, text, (tmp_path,), TWIN_INCLUDE)
    assert "".join(found.files.values()) == text + "#pragma once\n"
    assert '#include "large.h"' in rewrite(text, path).text
    for name in ("pipe.h", "zero.h", "/dev/zero"):  # the compiler would read them
        with pytest.raises(RegistryError, match="is no regular file") as caught:
            read_sources(path, f'#pragma once\n#include "{name}"\n', (tmp_path,), TWIN_INCLUDE)
        assert caught.value.where == f"{path}:2"
    (tmp_path / "wide.h").write_text(text, encoding="utf-16")
    for name in ("pipe.h", "large.h", "zero.h", "/dev/zero", "wide.h"):
        with pytest.raises(OSError, match=r"no regular file|more than 16 MiB|UTF-16"):
            source_text(tmp_path / name)
        with pytest.raises(RegistryError, match="cannot read the kernel"):
            build_kernel(tmp_path / name)


def test_white_space_that_the_device_s_compiler_takes_for_a_blank(tmp_path: Path) -> None:
    """A no-break and an ideographic space from a web page; g++ alone would take them for letters."""
    text = ENTRY.replace(" = VALUE", "\u00a0=\u3000VALUE")
    assert value_of(write(tmp_path / "k.cpp", f'#include "kernel_operator.h"\n#define VALUE 7\n{text}')) == 7
    wrong = text.replace("VALUE", "VALVE")
    source = write(tmp_path / "wrong.cpp", f'#include "kernel_operator.h"\n#define VALUE 7\n{wrong}')
    with pytest.raises(CompileError, match="VALVE") as caught:
        build_kernel(source)
    assert str(caught.value).count("wrong.cpp:3:") >= 1  # the learner's own file and line


def test_white_space_in_literals_and_comments_stays() -> None:
    text = 'a\u00a0= "b\u3000\\"\u00a0" /* c\u3000*/ + \u2009d; // e\u00a0f\n'
    assert with_plain_blanks(text) == 'a = "b\u3000\\"\u00a0" /* c\u3000*/ +  d; // e\u00a0f\n'
    assert with_plain_blanks(ENTRY) == ENTRY


def long_ago(folder: Path) -> None:
    for one in folder.rglob("*.h"):
        os.utime(one, ns=(10**18, 10**18))


def test_files_are_read_again_only_where_something_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch asks for them three times; each kind of change is seen at once."""
    text, opened = '#include "a.h"\n#include "near/b.h"\n', []
    write(tmp_path / "a.h", "int a = 1;\n")
    write(tmp_path / "more/near/b.h", '#include "c.h"\n')
    write(tmp_path / "more/near/c.h", "int c = 1;\n")
    long_ago(tmp_path)
    read = "gn_tutorial.cpp.included_files.readable_text"
    monkeypatch.setattr(read, lambda path: opened.append(path.name) or source_text(path))

    def found() -> list[str]:
        opened.clear()
        read = read_sources(tmp_path / "k.cpp", text, (tmp_path, tmp_path / "more"), TWIN_INCLUDE)
        return [one.strip() for one in read.headers]

    assert found() == ["int a = 1;", '#include "c.h"', "int c = 1;"]
    assert (len(found()), opened) == (3, [])
    write(tmp_path / "more/near/c.h", "int c = 2;\n")  # as long as before
    assert found()[-1] == "int c = 2;"
    assert opened == ["a.h", "b.h", "c.h"]
    long_ago(tmp_path)
    found()
    write(tmp_path / "near/b.h", "int nearer;\n")
    assert found() == ["int a = 1;", "int nearer;"]
    long_ago(tmp_path)
    found()
    (tmp_path / "a.h").unlink()
    assert found() == ["int nearer;"]


def test_what_was_just_written_is_read_each_time(tmp_path: Path) -> None:
    """An edit in the same tick of the file system's clock leaves length and time as they were."""
    for value in range(5):
        at = write(tmp_path / "a.h", f"int a = {value};\n")
        os.utime(at, ns=(now := at.stat().st_mtime_ns // 10**9 * 10**9 + 10**9, now))
        read = read_sources(tmp_path / "k.cpp", '#include "a.h"\n', (tmp_path,), TWIN_INCLUDE)
        assert read.headers == (f"int a = {value};\n",)


TEXT = r"""// #include "comment.h"
/* 数
#include "block.h"
*/ #include "one.h" // "x.h"
  #  include <sys/two.h>
#if 0 /* off */
#include "off.h"
#  ifdef A
#include "inner.h"
#  else
#  endif
#elif defined(A)
#include "three.h"
#else
#include "four.h"
#endif
#if (1)
#include \
  "five.h"
#else
int dead;
#include "off_too.h"
#endif
const char* text = R"(
#include "raw.h"
)"; const int n = 1'000; char c = '"'; /*
*/
#include "six/'.h"
#include MACRO
#if false
#include "never.h"
"""


def test_what_a_text_includes() -> None:
    found = includes(TEXT)
    assert [(one.name, one.line) for one in found] == [
        ("one.h", 4), ("sys/two.h", 5), ("three.h", 13), ("four.h", 15), ("five.h", 18), ("six/'.h", 28),
    ]  # fmt: skip
    assert [one.name for one in found if not one.quoted] == ["sys/two.h"]
    lines = TEXT.splitlines()
    assert [TEXT[one.start : one.end] for one in found[1:4]] == [lines[4], lines[12], lines[14]]
    put = with_includes(TEXT, lambda one: "" if one.name == "three.h" else None)
    assert put == TEXT.replace('#include "three.h"', "")


def test_lines_that_if_0_leaves_out_become_blank() -> None:
    live = with_live_lines(TEXT)
    assert len(live) == len(TEXT)
    gone = [7, 8, 9, 10, 11, 21, 22, 31]
    assert [line.strip() for line in live.splitlines()] == [
        "" if at in gone else line.strip() for at, line in enumerate(TEXT.splitlines(), 1)
    ]
    assert with_live_lines("#endif\n#else\nint a;\n") == "#endif\n#else\nint a;\n"


def test_a_file_is_not_looked_at_where_if_0_leaves_it_out(tmp_path: Path) -> None:
    text = '#if 0\n#include "/dev/zero"\n#endif\n/*\n#include "/dev/zero"\n*/\n'
    assert read_sources(tmp_path / "k.cpp", text, (tmp_path,), TWIN_INCLUDE).headers == ()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("typedef enum { DT_UNDEFINED = -1, FLOAT = 0 } printDataType;", True),
        ("auto type = ge::DT_FLOAT16;", True),
        ("tiling.SetAType(matmul_tiling::DataType::DT_FLOAT);", True),
        ("#if ORIG_DTYPE_X == DT_FLOAT16 || DT_BF16 == ORIG_DTYPE_X\n#endif", False),
    ],
)
def test_data_types_that_no_macro_may_hide(text: str, wanted: bool) -> None:
    assert read_sources(Path("/k.cpp"), text, (), TWIN_INCLUDE).names_host_types is wanted
