"""``python -m tools.compat``: what is found, tried, run and counted, on small folders of kernels."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gn_tutorial.errors import ArgumentError
from tools.command import program
from tools.compat import trying as compat
from tools.compat.__main__ import try_kernels
from tools.compat.defines import guess, guess_template
from tools.compat.trying import COMPILED, EXCLUDED, FAILED, RAN

HEAD = '#include "kernel_operator.h"\nusing namespace AscendC;\n'
GOOD = (
    HEAD
    + "__global__ __aicore__ void good(GM_ADDR x) { GlobalTensor<float> g; g.SetGlobalBuffer((__gm__ float*)x); }\n"
)


def one(tmp_path: Path, text: str, name: str = "k.cpp", **options: object) -> compat.CompatRow:
    (tmp_path / name).write_text(text)
    (case,) = compat.find_cases(tmp_path)
    return compat.try_case(case, compat.CompatOptions(**options))


def test_what_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "build").mkdir()
    (tmp_path / "a" / "inner.h").write_text("template <class T> __global__ __aicore__ void t(GM_ADDR x) {}\n")
    (tmp_path / "a" / "outer.cpp").write_text(
        '#include "inner.h"\nnamespace n { __global__ __aicore__ void k(GM_ADDR x) {} }'
    )
    (tmp_path / "a" / "host.cpp").write_text("// __global__ void no(GM_ADDR x) {}\nint f();\n")
    (tmp_path / "build" / "made.cpp").write_text(GOOD)
    (tmp_path / "s.asc").write_text(GOOD)
    found = {case.path.name: case.kernels for case in compat.find_cases(tmp_path)}
    assert found == {"outer.cpp": ("n::k", "t<T>"), "s.asc": ("good",)}
    with pytest.raises(ArgumentError, match="no folder"):
        compat.find_cases(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "status", "kind", "name"),
    [
        (GOOD, RAN, "", ""),
        (GOOD.replace("good(GM_ADDR x)", "good(GM_ADDR x, uint32_t n)"), COMPILED, "arguments",
         "a value of type uint32_t"),
        (GOOD.replace("good(GM_ADDR x)", "good(GM_ADDR x, GM_ADDR tiling)"), COMPILED, "arguments", "tiling data"),
        (GOOD.replace("g.Set", "missing_thing(); g.Set"), FAILED, "missing name", "missing_thing"),
        (GOOD.replace("g.Set", "LocalTensor<float> t; Mmad(t, t, t, 1); g.Set"), EXCLUDED, "other target",
         "matrix core"),
        (GOOD.replace("g.Set", "Digamma(g, 1); g.Set"), FAILED, "missing API", "Digamma"),
        (GOOD.replace("g.Set", "Clamp(g, 1); g.Set"), EXCLUDED, "other target", "names that Atlas A2 lacks"),
        ('#include "far/away.h"\n' + GOOD, FAILED, "missing header", "far/away.h"),
        (GOOD.replace("(__gm__ float*)x);", "(__gm__ float*)x); g.SetValue(1 << 24, 0.0f);"), COMPILED, "arguments",
         "sizes that are made up (gm-out-of-bounds)"),
        (GOOD.replace("g.Set", "SetFlag<HardEvent::V_S>(0); g.Set"), COMPILED, "diagnostic", "flag-never-awaited"),
        (GOOD.replace("g.Set", "\n#ifdef NOWHERE\nLocalTensor<float> t; Mmad(t, t, t, 1);\n#endif\n g.Set"), RAN, "",
         ""),
        (GOOD.replace("g.Set", "\n#ifdef __DAV_C220_VEC__\n(void)TPosition::A1;\n#endif\n g.Set"), EXCLUDED,
         "other target", "matrix core"),
        ('#if __NPU_ARCH__ != 2201\n#include "lib/matmul_intf.h"\n#endif\n' + GOOD, RAN, "", ""),
        ('#if __NPU_ARCH__ == 2201\n#include "lib/matmul_intf.h"\n#endif\n' + GOOD, EXCLUDED, "other target",
         "matrix core"),
        pytest.param(GOOD.replace("g.Set", "for (volatile int i = 0;; i = i + 1) {} g.Set"), COMPILED, "time limit", "",
                     marks=pytest.mark.thorough),
        (GOOD.replace("g.Set", "*(volatile int*)8 = 1; g.Set"), COMPILED, "crash", None),
    ],
)  # fmt: skip
def test_what_becomes_of_a_kernel(tmp_path: Path, text: str, status: str, kind: str, name: str | None) -> None:
    row = one(tmp_path, text, seconds=60.0, run=False)
    if row.status == COMPILED:  # it is in the cache now: the small limit is for the run alone
        row = one(tmp_path, text, seconds=3.0)
    assert row.status == status
    if kind:
        assert row.reasons[0].kind == kind
        assert name is None or row.reasons[0].name == name
    else:
        assert row.reasons == ()


def test_a_whole_sample_finds_its_files_and_leaves_the_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "x.txt").write_text("7")
    text = (
        '#include "acl/acl.h"\n#include <fstream>\n__global__ __vector__ void k(GM_ADDR x) {}\n'
        'int main() { int v = 0; std::ifstream("input/x.txt") >> v; std::ofstream("output/y.txt") << v;\n'
        'std::ifstream("output/y.txt") >> v; return v == 7 ? 0 : 1; }\n'
    )
    row = one(tmp_path, text, "s.asc")
    assert (row.status, row.whole, row.reasons) == (RAN, True, ())
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["input", "s.asc", "x.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="system calls are filtered on Linux only")
def test_a_sample_cannot_write_elsewhere(tmp_path: Path) -> None:
    target = tmp_path.parent / "elsewhere.txt"
    text = (
        '#include "acl/acl.h"\n#include <fstream>\n__global__ __vector__ void k(GM_ADDR x) {}\n'
        f'int main() {{ std::ofstream("{target}") << 1; return 0; }}\n'
    )
    row = one(tmp_path, text, "s.asc")
    assert (row.status, row.reasons[0].kind) == (COMPILED, "crash")
    assert not target.exists()


def test_definitions_are_guessed_from_what_stands_around(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        'set(SCENARIO "2" CACHE STRING "choice")\n# set(SCENARIO "9")\nadd_definitions(-DSCENARIO=${SCENARIO})\n'
        "set(VALID 3 4)\nif(NOT MODE IN_LIST VALID)\nendif()\ntarget_compile_definitions(demo PRIVATE MODE=${MODE})\n"
        "target_compile_definitions(demo PRIVATE UNUSED=1)\n"
    )
    text = "SCENARIO MODE DTYPE_X"
    made = guess(tmp_path / "k.asc", text)
    assert {"SCENARIO=2", "MODE=3", "DTYPE_X=half"} <= set(made)
    assert not any(define.startswith("UNUSED") for define in made)
    kernel = "template <typename T, bool B, int N = 3>\n__global__ __aicore__ void k(GM_ADDR x) {}"
    assert guess_template(kernel) == "k<half, false, 1>"
    assert guess_template(GOOD) == ""
    constant, launch = "constexpr uint32_t LENGTH = 64;\n", "\nvoid run() {{ k<{}><<<8, nullptr, stream>>>(x); }}"
    assert guess_template(constant + kernel + launch.format("float, true, LENGTH")) == "k<float, true, LENGTH>"
    assert guess_template(constant + kernel + launch.format("float, true")) == "k<float, true>"
    assert guess_template(constant + kernel + launch.format("T, true, LENGTH")) == "k<half, false, 1>"


def test_a_template_and_operator_dtypes_compile(tmp_path: Path) -> None:
    text = HEAD + (
        "template <typename T, int N> __global__ __aicore__ void k(GM_ADDR x) {\n"
        "#if ORIG_DTYPE_X == DT_FLOAT16\nstatic_assert(sizeof(DTYPE_X) == 2 && N == 1);\n"
        "#else\n#error wrong\n#endif\n}\n"
    )
    assert one(tmp_path, text).status == RAN


def test_names_of_inputs_are_taken_as_they_are(tmp_path: Path) -> None:
    text = HEAD + (
        "__global__ __aicore__ void k(GM_ADDR x) {\n"
        "  static_assert(sizeof(DTYPE_SELF) + sizeof(DTYPE_SELECTED) + sizeof(DTYPE_DECLARED) == 6);\n"
        "#if ORIG_DTYPE_SELF != DT_FLOAT16\n#error wrong\n#endif\n}\n"
    )
    assert one(tmp_path, text).status == RAN


def test_what_was_tried_before_an_interrupt_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.cpp", "b.cpp"):
        (tmp_path / name).write_text(GOOD)
    real = compat.try_case

    def stop_at_b(case: compat.CompatCase, options: compat.CompatOptions) -> compat.CompatRow:
        if case.path.name == "b.cpp":
            raise KeyboardInterrupt
        return real(case, options)

    monkeypatch.setattr(compat, "try_case", stop_at_b)
    done = CliRunner().invoke(program(try_kernels), [str(tmp_path), "--json"])
    assert done.exit_code == 1
    facts = json.loads(done.stdout)
    assert (facts["found"], facts["tried"], facts["ran"], facts["interrupted"]) == (2, 1, 1, True)


def test_counts_and_exit_codes(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(GOOD)
    run = CliRunner()
    done = run.invoke(program(try_kernels), [str(tmp_path)])
    assert done.exit_code == 0
    assert "1 of 1 (100 %)" in done.output
    (tmp_path / "b.cpp").write_text(GOOD.replace("g.Set", "Digamma(g, 1); nothing(); g.Set"))
    (tmp_path / "c.cpp").write_text(GOOD.replace("g.Set", "Mmad(g, g, g, 1); g.Set"))
    done = run.invoke(program(try_kernels), [str(tmp_path), "--json"])
    assert done.exit_code == 1
    facts = json.loads(done.stdout)
    counts = {name: facts[name] for name in ("found", "kernels", "excluded", "tried", "compiled", "ran")}
    assert counts == {"found": 3, "kernels": 3, "excluded": 1, "tried": 2, "compiled": 1, "ran": 1}
    assert facts["reasons"] == [{"kind": "missing API", "name": "Digamma", "files": 1}]
    assert facts["missing"] == {"Digamma": 1, "nothing": 1} or facts["missing"] == {"Digamma": 1}
    assert [row["status"] for row in facts["files"]] == [RAN, FAILED, EXCLUDED]
    shown = run.invoke(program(try_kernels), [str(tmp_path), "--all", "--compile-only"])
    assert shown.exit_code == 1
    assert "missing API: Digamma" in shown.output
    (tmp_path / "empty").mkdir()
    assert run.invoke(program(try_kernels), [str(tmp_path / "empty")]).exit_code == 2


@pytest.mark.thorough
def test_a_kernel_beside_its_host_files_is_tiled_by_them(tmp_path: Path) -> None:
    projects = Path(__file__).parents[1] / "programs" / "projects"
    shutil.copytree(projects / "row_max", tmp_path / "row_max")
    (case,) = compat.find_cases(tmp_path)
    assert compat.try_case(case).status == RAN
    host = tmp_path / "row_max" / "op_host" / "row_max_tiling.cpp"
    host.write_text(host.read_text().replace("x.GetDimNum() < 2", "true"))
    refused = compat.try_case(case)
    assert refused.status == COMPILED  # with the struct that the host files register
    assert "tiling takes no invented call" in refused.reasons[0].name
    assert "at least 2 are needed" in refused.reasons[0].name
