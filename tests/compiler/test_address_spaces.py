"""clang reads kernels with ``__gm__`` and ``__ubuf__`` as address spaces, and each loss is found at its line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from program_pairs import SOURCES, together
from thoroughness import some

import gn_tutorial as gnt
from gn_tutorial.compiler import address_spaces
from gn_tutorial.compiler.address_spaces import IDS, POINTER, REFERENCE, STRUCT, check_spaces
from gn_tutorial.compiler.build import AS_IT_IS, SourceOptions
from gn_tutorial.compiler.output import Place, parse
from gn_tutorial.compiler.space_casts import with_casts
from gn_tutorial.compiler.toolchain import find_clang
from gn_tutorial.course.exam.author import judged
from gn_tutorial.course.exam.handout import handout, solved, write
from gn_tutorial.course.exam.solution_files import FIRST, right_solutions
from gn_tutorial.course.exam.task import Task, draw, find_task, load_tasks
from gn_tutorial.errors import KernelFault
from gn_tutorial.operators.prototype import prototype
from gn_tutorial.operators.space_findings import findings_of
from gn_tutorial.projects.new_project import LAYOUTS, new_project
from gn_tutorial.projects.project import Project

ROOT = Path(__file__).parents[2]
PAIRS = sorted((Path(__file__).parent / "spaces").glob("*.cpp"))
STRICT = PAIRS[2]
EXPECT = re.compile(r"// expect: ([\w-]+)$")

needs_clang = pytest.mark.skipif(find_clang() is None, reason="needs clang++ or the ziglang wheel: no clang here")


def found(source: Path | str, how: SourceOptions = AS_IT_IS) -> list[tuple[str, int]]:
    check = check_spaces(source, how)
    assert check.not_done == ""
    return [(one.id, one.line) for one in check.findings]


def expected(text: str) -> list[tuple[str, int]]:
    lines = text.splitlines()
    return [(mark[1], number) for number, line in enumerate(lines, 1) if (mark := EXPECT.search(line))]


@needs_clang
@pytest.mark.parametrize("path", some(PAIRS, 2), ids=lambda path: path.stem)
def test_pairs(path: Path) -> None:
    wanted = expected(path.read_text(encoding="utf-8"))
    assert found(path) == wanted
    assert bool(wanted) == path.stem.endswith("_bad")


def test_each_id_has_a_pair_and_whole_sentences() -> None:
    shown = {one for path in PAIRS for one, _ in expected(path.read_text(encoding="utf-8"))}
    assert shown == set(IDS)


# One kernel with many forms, so that clang reads the headers once. Lines without a mark are right.
FORMS = """
#include "kernel_operator.h"
struct Numbers { float eps; uint32_t n; __aicore__ uint32_t Get() const { return n; } };
struct Holder { float* p; __gm__ float* q; Numbers n; };
template <class T> __aicore__ inline T Smaller(const T& a, const T& b) { return a < b ? a : b; }
template <class T> __aicore__ inline float First(const T* values) { return values[0]; }
template <class T> __aicore__ inline T* Cast(GM_ADDR x) {
  return reinterpret_cast<T*>(x);  // expect: language-space-pointer
}
template <class T> __aicore__ inline T* Forced(GM_ADDR x) {
  return (T*)x;  // expect: language-space-pointer
}
using Address = float*;
__aicore__ inline Numbers Load(const __gm__ Numbers* p) {
  return *p;  // expect: language-space-struct
}
__aicore__ inline float Plain(const float* values) { return values[0]; }
__aicore__ inline void ByValue(Numbers) {}
extern "C" __global__ __aicore__ void forms(GM_ADDR x, GM_ADDR t) {
  const __gm__ Numbers* p = reinterpret_cast<const __gm__ Numbers*>(t);
  __gm__ Numbers* to = reinterpret_cast<__gm__ Numbers*>(x);
  __gm__ float* f = (__gm__ float*)x;
  AscendC::LocalTensor<float> a;
  AscendC::GlobalTensor<float> g;
  g.SetGlobalBuffer(f, 64);
  Holder h;
  First(f);  // T is __gm__ float
  const auto eps = p->eps;
  AscendC::Adds(a, a, eps, 64);
  g.SetValue(0, p->eps);
  a.SetValue(0, p->eps);
  to->n = p->n + 1;
  h.q = f + p->n;
  __ubuf__ float* in = (__ubuf__ float*)a.GetPhyAddr();
  __gm__ float& known = f[1];
  uint64_t number = (uint64_t)x + (uint64_t)in;
  __gm__ int32_t* words = (__gm__ int32_t*)(number + (__gm__ uint8_t*)nullptr);
  auto raw_words = (const __gm__ uint32_t*)words;
  AscendC::Adds(a, a, p->eps, 64);  // expect: language-space-reference
  g.SetValue(0, Smaller(p->n, 3u));  // expect: language-space-reference
  g.SetValue(0, AscendC::Std::min(p->n, 3u));  // expect: language-space-reference
  const float& r = p->eps;  // expect: language-space-reference
  float& l = a(0);  // expect: language-space-reference
  p->Get();  // expect: language-space-reference
  Numbers mine = *p;  // expect: language-space-struct
  h.n = *p;  // expect: language-space-struct
  *to = mine;  // expect: language-space-struct
  ByValue(*p);  // expect: language-space-struct
  Plain(f);  // expect: language-space-pointer
  h.p = f;  // expect: language-space-pointer
  float* q = f;  // expect: language-space-pointer
  float* s = a.GetPhyAddr();  // expect: language-space-pointer
  const float* raw = g.GetPhyAddr();  // expect: language-space-pointer
  Cast<float>(x);
  Forced<float>(x);
  q = (float*)x;  // expect: language-space-pointer
  q = Address(raw_words);  // expect: language-space-pointer
  s = (float*)a.GetPhyAddr();  // expect: language-space-pointer
  raw = (const float*)g.GetPhyAddr();  // expect: language-space-pointer
  f = (__gm__ float*)a.GetPhyAddr();  // expect: language-space-pointer
  float& forced = (float&)a(0);  // expect: language-space-reference
}
"""


@needs_clang
def test_every_form_is_found_at_its_line_and_right_ones_are_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    check = check_spaces(FORMS)
    assert [(one.id, one.line) for one in sorted(check.findings, key=lambda one: one.line)] == expected(FORMS)
    said = {(one.id, one.fields.get("done"), one.fields["memory"]) for one in check.findings}
    assert (STRUCT, "written as a whole", "the global memory") in said
    assert (STRUCT, "read as a whole", "the global memory") in said
    assert (POINTER, None, "the Unified Buffer") in said
    for one in findings_of(check):
        assert "{" not in one.what + one.why + one.fix
        assert "?" not in one.what + one.fix
    assert any("read the field into a local variable" in one.fix for one in findings_of(check) if one.id == REFERENCE)
    monkeypatch.setattr("gn_tutorial.compiler.build_request.run_compiler", lambda *_, **__: pytest.fail("asked again"))
    assert check_spaces(FORMS) == check


TREE = b"""\
/k.cpp:3:1: error: an error
TranslationUnitDecl 0x1 <<invalid sloc>> <invalid sloc>
|-FunctionDecl 0x2 </own, or not/k.cpp:5:1, line:9:1> line:5:6 used f 'void (__gm__ float *)'
| |-ParmVarDecl 0x3 </twin/config.h:24:16, /own, or not/k.cpp:5:20> col:20 used x '__gm__ float *'
| `-CompoundStmt 0x4 <line:6:1, line:9:1>
|   |-CStyleCastExpr 0x5 <line:7:14, line:8:22> 'float *' <AddressSpaceConversion>
|   | `-DeclRefExpr 0x6 <col:22> 'At':'__gm__ float *' lvalue ParmVar 0x3 'x' 'At':'__gm__ float *'
|   |-LambdaExpr 0x7 <col:30> '(lambda at /other.h:70:3)'
|   |-CStyleCastExpr 0x8 <col:40, line:9:2> '__gm__ float *' <AddressSpaceConversion>
|   | `-DeclRefExpr 0x9 <col:1> 'float *' lvalue Var 0xa 'p' 'float *'
|   `-CStyleCastExpr 0xb <col:5, col:9> '__gm__ float *' <AddressSpaceConversion>
|     `-DeclRefExpr 0xc <col:9> '__ubuf__ float *' lvalue Var 0xd 'u' '__ubuf__ float *'
/k.cpp:1:1: error: no library was made
"""


def test_casts_are_read_from_clangs_tree_with_their_lines() -> None:
    first, *casts = parse(with_casts(TREE, 1000))
    assert (first.place, first.message) == (Place("/k.cpp", 3, 1), "an error")
    assert [one.place for one in casts] == [Place("/own, or not/k.cpp", 7), Place("/own, or not/k.cpp", 9)]
    assert casts[0].message == "cast from 'At':'__gm__ float *' to 'float *' changes the address space"
    assert with_casts(b"/k.cpp:3:1: error: no tree", 10) == "/k.cpp:3:1"


SAMPLE = """
#include "kernel_operator.h"
#include "acl/acl.h"
struct Numbers { float eps; };
extern "C" __global__ __aicore__ void copies(GM_ADDR x, GM_ADDR y) {
  Numbers mine = *(__gm__ Numbers*)x;  // expect: language-space-struct
  *(__gm__ float*)y = mine.eps;
}
static void Run(GM_ADDR x, GM_ADDR y) { copies<<<1, nullptr, nullptr>>>(x, y); }
int main() {
  uint8_t *x = nullptr, *y = nullptr;
  Run(x, y);
  copies<<<1, nullptr, nullptr>>>(x, y);
}
"""


@needs_clang
def test_host_code_of_a_sample_has_one_memory() -> None:
    assert found(SAMPLE) == expected(SAMPLE)


@needs_clang
@pytest.mark.thorough
def test_a_template_is_read_with_the_arguments_of_its_launch() -> None:
    text = FORMS.replace('extern "C" __global__', "template <class T>\n__global__").replace("a.GetPhyAddr();", "T{};")
    check = check_spaces(text, SourceOptions(template="float"))
    assert {one.id for one in check.findings} == set(IDS)


def test_without_clang_the_check_says_that_it_was_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address_spaces, "find_clang", lambda: None)
    check = check_spaces(PAIRS[0])
    assert check.findings == ()
    assert str(check).startswith("memory qualifiers (__gm__, __ubuf__): not checked, because this machine has no clang")
    x, y = np.ones(64, np.float32), gnt.out(64, np.float32)
    result = gnt.kernel(STRICT).run(x, y, blocks=1, options=gnt.TwinOptions().strict())
    assert result.spaces == check


@needs_clang
def test_a_strict_launch_fails_and_another_does_not_ask() -> None:
    kernel = gnt.kernel(STRICT)
    x, y = np.ones(64, np.float32), gnt.out(64, np.float32)
    result = kernel.run(x, y, blocks=1)
    assert result.spaces is None
    assert not result.diagnostics
    with pytest.raises(KernelFault, match="gets a value that lies in the global memory") as fault:
        kernel.run(x, y, blocks=1, options=gnt.TwinOptions().strict())
    (one,) = fault.value.diagnostics
    assert (one.id, one.line) == (REFERENCE, 17)
    assert "Muls" in one.source()
    warned = kernel.run(x, y, blocks=1, options=gnt.TwinOptions(warnings=IDS))
    assert [one.severity for one in warned.diagnostics] == ["warning"]


@needs_clang
@pytest.mark.thorough
def test_a_check_is_kept_until_a_file_changes(tmp_path: Path) -> None:
    source = tmp_path / "kernel.cpp"
    source.write_text(PAIRS[-2].read_text(encoding="utf-8"), encoding="utf-8")
    assert check_spaces(source).findings
    source.write_text(PAIRS[-1].read_text(encoding="utf-8"), encoding="utf-8")
    assert check_spaces(source).findings == ()


OURS = [
    path
    for folder in ("kernels", "exercises", "solutions")
    for path in sorted((ROOT / folder).glob("*/**/*.cpp"))
    if "exam" not in path.parts and "projects" not in path.parts
    if "__global__" in path.read_text(encoding="utf-8")
]
# Their fields in global memory were passed to instructions once.
BROKEN_ONCE = ROOT / "kernels" / "rms_norm" / "rms_norm.cpp"
THOROUGH = [pytest.param(path, marks=pytest.mark.thorough) for path in OURS if path != BROKEN_ONCE]


@needs_clang
@pytest.mark.parametrize("path", [BROKEN_ONCE, *THOROUGH], ids=lambda path: str(path.relative_to(ROOT)))
def test_ours_are_right(path: Path) -> None:
    assert found(path) == []


@needs_clang
@pytest.mark.thorough
def test_right_programs_of_the_pages_are_right() -> None:
    assert found(together([name for name in SOURCES if name.endswith("_ok")])) == []


@needs_clang
@pytest.mark.thorough
@pytest.mark.parametrize("task", load_tasks(), ids=lambda task: task.name)
def test_exam_tasks_are_right_as_they_are_handed_out(task: Task, tmp_path: Path) -> None:
    layout = Project(write(handout(task), tmp_path / "task")).layout
    for column in task.definition.columns("ascend910b").columns:
        dtypes = task.definition.build_dtypes(column)
        how = SourceOptions(include_dirs=layout.include_dirs, dtypes=dtypes, launchers=False)
        assert [found(path, how) for path in layout.kernels] == [[]]


@needs_clang
@pytest.mark.thorough
@pytest.mark.parametrize("layout", LAYOUTS)
def test_generated_projects_are_right(layout: str, tmp_path: Path) -> None:
    operators = [prototype(name) for name in ("group_norm", "group_norm_backward")]
    root = new_project(operators, tmp_path / "package", layout=layout, filled=True)
    x = np.ones((2, 4, 6), np.float16)
    asked = {"num_groups": 2, "options": gnt.TwinOptions(errors=IDS)}
    forward = Project(root, op=operators[0]["op"])(x, **asked)
    _, mean, rstd = forward.outputs.values()
    backward = Project(root, op=operators[1]["op"])(x, x, mean=mean, rstd=rstd, **asked)
    assert [one.spaces and one.spaces.not_done for one in (forward, backward)] == ["", ""]


@needs_clang
@pytest.mark.thorough
@pytest.mark.parametrize("task", load_tasks(), ids=lambda task: task.name)
def test_exam_solutions_are_right(task: Task, tmp_path: Path) -> None:
    for name, pieces in right_solutions(task).items():
        project = Project(write(solved(task, pieces), tmp_path / name))
        for hidden in {str(one.arrays["x"].dtype) if "x" in one.arrays else "": one for one in draw(task, 1)}.values():
            call = project.call(**hidden.arrays, **hidden.attributes)
            check = project.kernel(call, project.tiling(**hidden.arrays, **hidden.attributes)).check_spaces()
            assert (check.not_done, check.findings) == ("", ()), name


@pytest.mark.thorough
def test_a_judge_with_clang_takes_points_and_one_without_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    task = find_task("log_cosh")
    files = solved(task, right_solutions(task)[FIRST])
    kernel = "op_kernel/log_cosh.cpp"
    broken = files | {kernel: files[kernel].replace("(void)workspace;", "const uint8_t& first = *x; (void)first;")}
    assert broken != files
    lost = judged(task, broken, "9.x")
    if find_clang() is not None:
        assert not lost.accepted
        assert [REFERENCE in one.what for one in lost.losses] == [True, False]
        assert set(lost.losses[0].points) == {"no findings"}
        assert lost.losses[0].read == f"gnt explain {REFERENCE}"
        assert "checked by" in lost.record()["spaces"]
        monkeypatch.setattr(address_spaces, "find_clang", lambda: None)
        lost = judged(task, broken, "9.x")
    assert lost.accepted
    assert "not checked, because this machine has no clang" in lost.record()["spaces"]
