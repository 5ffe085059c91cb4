"""The own test of an operator project: in both layouts, unchanged; and one that fails, crashes or never ends."""

import json
import os
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from gn_tutorial.errors import ArgumentError, CompileError, KernelCrash, KernelFault
from gn_tutorial.projects.test_runner.own_test import run_own_test
from gn_tutorial.projects.test_runner.test_folder import make_usual_folders, script_memory
from gn_tutorial.projects.test_runner.test_result import OwnTestResult
from gn_tutorial.runtime.write_sandbox import landlock_version

PROJECT = Path(__file__).parents[1] / "programs" / "projects" / "scale_shift"
KERNEL = "op_kernel/scale_shift.cpp"
MAIN = "aclnn_test.cpp"
needs_walls = pytest.mark.skipif(landlock_version() == 0, reason="this system cannot keep a script in one folder")


@pytest.fixture
def project(copy_of: Callable[[Path], Path]) -> Path:
    return copy_of(PROJECT)


@pytest.fixture
def own_test(tmp_path: Path) -> Path:
    """A copy of the test alone: the project stays where it is, so that its host files and kernel are compiled once."""
    return Path(shutil.copytree(PROJECT / "test", tmp_path / "test"))


def edit(project: Path, name: str, old: str, new: str) -> None:
    text = (project / name).read_text()
    assert text.count(old) == 1, f"{name} has {text.count(old)} times: {old}"
    (project / name).write_text(text.replace(old, new))


def run(project: Path, **how: object) -> OwnTestResult:
    return run_own_test(project, project / "test", **how)  # type: ignore[arg-type]


def run_test(own_test: Path, **how: object) -> OwnTestResult:
    return run_own_test(PROJECT, own_test, **how)  # type: ignore[arg-type]


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


# --- tests that pass -------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_one_file_and_a_line_of_the_compiler() -> None:
    before = files_of(PROJECT)
    steps: list[str] = []
    done = run(PROJECT, told=steps.append)
    assert done.passed, repr(done)
    assert done.said == "TEST PASSED!"
    assert steps[0] == "compiling the host files"
    assert "aclnnScaleShift: 47 blocks" in steps
    assert json.loads(json.dumps(done.to_dict()))["launches"][0]["blocks"] == "47"
    assert done.exit_code == 0
    assert done.programs == {"execute_op": 0}
    [launch] = done.launches
    assert launch.op_type == "ScaleShift"
    assert launch.inputs == (("x", "float16", (3, 1001)),)
    assert launch.outputs == (("y", "float16", (3, 1001)),)
    assert launch.attributes == (("alpha", 2.0), ("beta", 0.5))
    assert launch.blocks == 47  # 188 units of 32 bytes on 48 cores: four a block
    assert launch.tiling_key == 1
    assert launch.workspace == 0
    assert not done.findings
    assert done.notes == ()
    assert files_of(PROJECT) == before


@pytest.mark.thorough
def test_cmake_several_files_and_a_workspace_by_its_address() -> None:
    before = files_of(PROJECT)
    done = run_own_test(PROJECT, PROJECT / "AclNNInvocation")
    assert done.passed, repr(done)
    assert done.said == "test pass"
    assert done.launches[0].inputs == (("x", "float32", (5, 777)),)
    assert done.launches[0].attributes == (("alpha", -1.5), ("beta", 3.0))
    assert [one.rule for one in done.notes] == ["workspace-address"]
    assert "[INFO] run op success" in done.printed
    assert files_of(PROJECT) == before


@pytest.mark.thorough
def test_an_operator_without_outputs_leaves_its_result_in_its_input(project: Path) -> None:
    """The definition has no Output, the kernel writes x, and the program reads x back: contest projects do so."""
    host = project / "op_host" / "scale_shift.cpp"
    text = host.read_text()
    host.write_text(text[: text.index('    this->Output("y")')] + text[text.index('    this->Attr("alpha")') :])
    kernel = project / KERNEL
    text = kernel.read_text().replace("GM_ADDR x, GM_ADDR y, GM_ADDR workspace", "GM_ADDR x, GM_ADDR workspace")
    kernel.write_text(text.replace("op.Init(x, y,", "op.Init(x, x,").replace("DTYPE_Y", "DTYPE_X"))
    edit(project, f"test/{MAIN}", "0.5, tensors[1], &workspaceSize", "0.5, &workspaceSize")
    edit(
        project,
        f"test/{MAIN}",
        "bytes, device[1], bytes, ACL_MEMCPY_DEVICE",
        "bytes, device[0], bytes, ACL_MEMCPY_DEVICE",
    )
    done = run(project)
    assert done.passed, repr(done)
    assert done.launches[0].outputs == ()


def test_folders_that_git_lost_are_made(tmp_path: Path) -> None:
    """Those that scripts name and do not make; nothing else."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "run.sh").write_text("rm -f ./input/*.bin\npython3 scripts/gen_data.py\ncat build/output/log\n")
    (tmp_path / "scripts" / "gen_data.py").write_text("x.tofile('./input/x.bin')\nos.makedirs('made')\n")
    make_usual_folders(tmp_path)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["input", "run.sh", "scripts"]
    (tmp_path / "scripts" / "gen_data.py").write_text("os.mkdir('output')\ngolden.tofile('output/golden.bin')\n")
    make_usual_folders(tmp_path)
    assert not (tmp_path / "output").exists()


@pytest.mark.thorough
def test_without_run_sh_the_usual_steps_are_taken(project: Path) -> None:
    (project / "test" / "run.sh").unlink()
    assert run(project).passed
    shutil.rmtree(project / "test")
    (project / "AclNNInvocation" / "run.sh").unlink()
    edit(project, "AclNNInvocation/src/CMakeLists.txt", '"../output"', '"."')
    edit(project, "AclNNInvocation/src/main.cpp", '"../input/input_x.bin"', '"input/input_x.bin"')
    edit(project, "AclNNInvocation/src/main.cpp", '"../output/output_y.bin"', '"output/output_y.bin"')
    done = run_own_test(project)
    assert done.passed, repr(done)


# --- tests that fail -------------------------------------------------------------------------------------------------


def test_a_wrong_number_is_the_tests_own_verdict(own_test: Path) -> None:
    edit(own_test, MAIN, "(tensors[0], 2.0, 0.5,", "(tensors[0], 2.0, 1.5,")
    done = run_test(own_test)
    assert done.verdict == "failed"
    assert done.said == "TEST FAILED!"
    assert done.exit_code == 1
    assert done.error is None
    assert len(done.launches) == 1


def test_a_mistake_that_the_checkers_find(project: Path) -> None:
    edit(project, KERNEL, "DataCopyPad(yGm[at], y, row);", "DataCopyPad(yGm[at + 1], y, row);")
    done = run(project)
    assert done.verdict == "failed"
    assert isinstance(done.error, KernelFault)
    assert done.error.diagnostics[0].id == "gm-beyond-declared-size"
    assert "returned 507035" in done.printed
    assert done.launches == ()


def test_a_script_that_needs_more_memory_than_it_may_have(own_test: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report names the limit, even if run.sh ignores the exit code of its data script."""
    monkeypatch.setattr("gn_tutorial.projects.test_runner.test_folder.memory_bytes", lambda: 2 << 30)
    script = own_test / "gen_data.py"
    script.write_text(f"import numpy as np\nnp.ones(9 << 29)\n{script.read_text()}")
    done = run_test(own_test)
    assert done.verdict == "not run"
    assert "Unable to allocate" in done.said
    assert "4 GiB, three quarters of this machine's memory" in done.reason
    assert done.launches == ()


def test_what_a_script_may_fill_follows_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for machine, allowed in ((2 << 30, 4 << 30), (8 << 30, 6 << 30), (64 << 30, 48 << 30)):
        monkeypatch.setattr(
            "gn_tutorial.projects.test_runner.test_folder.memory_bytes", lambda machine=machine: machine
        )
        assert script_memory() == allowed


@pytest.mark.thorough
def test_a_kernel_that_does_not_compile(project: Path) -> None:
    edit(project, KERNEL, "Muls(y, x,", "Mulls(y, x,")
    done = run(project)
    assert done.verdict == "failed"
    assert isinstance(done.error, CompileError)
    assert str(project / KERNEL) in done.error.where


@pytest.mark.thorough
def test_a_program_that_does_not_compile(own_test: Path) -> None:
    edit(own_test, MAIN, "aclnnScaleShiftGetWorkspaceSize(tensors[0], 2.0,", "aclnnScaleShiftGetWorkspaceSize(")
    done = run_test(own_test)
    assert done.verdict == "failed"
    assert isinstance(done.error, CompileError)
    assert f"{own_test / MAIN}:" in done.error.where


@pytest.mark.thorough
def test_a_crash_in_main(own_test: Path) -> None:
    edit(own_test, MAIN, "  uint64_t workspaceSize = 0;\n", "  uint64_t workspaceSize = *(volatile int*)16;\n")
    done = run_test(own_test)
    assert done.verdict == "failed"
    assert isinstance(done.error, KernelCrash)
    assert done.error.what.startswith("execute_op used a null pointer")
    assert done.programs == {"execute_op": 134}


@pytest.mark.thorough
def test_a_program_that_calls_exit(own_test: Path) -> None:
    edit(
        own_test,
        MAIN,
        "  uint64_t workspaceSize = 0;\n",
        '  printf("gave up\\n"); exit(3);\n  uint64_t workspaceSize = 0;\n',
    )
    done = run_test(own_test)
    assert (done.verdict, done.programs) == ("failed", {"execute_op": 3})
    assert "gave up" in done.printed


@pytest.mark.thorough
def test_an_endless_program_is_stopped(own_test: Path) -> None:
    edit(
        own_test,
        MAIN,
        "  uint64_t workspaceSize = 0;\n",
        "  for (volatile int i = 0; i < 1;) {}\n  uint64_t workspaceSize = 0;\n",
    )
    done = run_test(own_test, seconds=15.0)
    assert done.verdict == "stopped", repr(done)


@pytest.mark.thorough
def test_endless_scripts_are_stopped(own_test: Path) -> None:
    run_sh = own_test / "run.sh"
    run_sh.write_text("while true; do sleep 0.1; done\n")
    done = run_test(own_test, seconds=3.0)
    assert (done.verdict, done.reason) == ("stopped", "it had not ended after 3 s")
    run_sh.write_text("while true; do echo again and again; done\n")
    done = run_test(own_test, seconds=40.0)
    assert done.verdict == "failed"
    assert "it printed without end" in done.printed


@pytest.mark.thorough
def test_a_program_writes_in_its_own_copy_only(own_test: Path, tmp_path: Path) -> None:
    edit(own_test, MAIN, '"/output.bin"', '"/../../../../outside.bin"')
    done = run_test(own_test)
    assert done.verdict == "failed"
    assert isinstance(done.error, KernelCrash)
    assert done.error.what == "execute_op opened a file for writing (openat), which no test may"


@pytest.mark.thorough
@needs_walls
def test_scripts_write_in_the_copy_only(own_test: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    steps = f"""
        set -e
        echo inside > inside.txt && mkdir -p "$HOME/some" "$TMPDIR/other" && echo x > "$HOME/some/x" && rm inside.txt
        echo nothing > /dev/null
        if echo bash > {outside}; then echo test failed; fi
        if python3 -c "open('{outside}', 'w')"; then echo test failed; fi
        if mkdir {tmp_path}/folder; then echo test failed; fi
        if rm {own_test}/run.sh; then echo test failed; fi
        if kill -0 {os.getpid()}; then echo signals pass; fi
        python3 gen_data.py && g++ aclnn_test.cpp -o op && ./op && python3 verify_result.py
    """
    (own_test / "run.sh").write_text(textwrap.dedent(steps))
    done = run_test(own_test)
    assert done.walls
    assert done.passed, repr(done)
    assert not outside.exists()
    assert (own_test / "run.sh").exists()


def test_nothing_was_launched(own_test: Path) -> None:
    (own_test / "run.sh").write_text("echo test pass\n")
    done = run_test(own_test)
    assert (done.verdict, done.reason) == ("failed", "it ended well and launched no operator")


def test_a_script_that_needs_what_is_not_there(own_test: Path) -> None:
    (own_test / "gen_data.py").write_text("import no_such_framework\n")
    done = run_test(own_test)
    assert done.verdict == "failed"
    assert done.reason.startswith("a script imports no_such_framework, which this Python does not have")


@pytest.mark.thorough
def test_a_launch_that_is_too_large_is_not_run(own_test: Path) -> None:
    done = run_test(own_test, most_bytes=6000)
    assert done.verdict == "not run"
    assert "0.0 MB of tensors, more than 0.0 MB" in done.reason
    assert done.launches == ()


# --- calls that are refused ------------------------------------------------------------------------------------------


TYPE = "constexpr aclDataType CASE_DTYPE = ACL_FLOAT16;"
CALLS = (
    ("(tensors[0], 2.0, 0.5,", "(nullptr, 2.0, 0.5,", 161001, "aclnn-null"),
    (TYPE, TYPE.replace("ACL_FLOAT16", "ACL_INT16"), 161002, "aclnn-argument"),
    (TYPE, TYPE.replace("ACL_FLOAT16", "ACL_STRING"), 161002, "aclnn-dtype"),
    ("  void* workspace = nullptr;\n", "  void* workspace = nullptr;\n  aclDestroyTensor(tensors[0]);\n", 161002,
     "aclnn-destroyed"),
    ("  CHECK(aclrtSynchronizeStream", "  CHECK(aclnnScaleShift(workspace, workspaceSize, executor, stream));\n"
     "  CHECK(aclrtSynchronizeStream", 161002, "aclnn-executor"),
)  # fmt: skip
#: One refusal of each of the two calls; the others are compiled with --all only.
OF_BOTH_CALLS = ("aclnn-null", "aclnn-executor")


@pytest.mark.parametrize(
    ("old", "new", "status", "rule"),
    [pytest.param(*one, id=one[-1], marks=[] if one[-1] in OF_BOTH_CALLS else pytest.mark.thorough) for one in CALLS],
)
def test_a_refused_call_has_its_status_and_a_reason(own_test: Path, old: str, new: str, status: int, rule: str) -> None:
    edit(own_test, "case_config.h" if old == TYPE else MAIN, old, new)
    done = run_test(own_test)
    assert done.verdict == "failed"
    assert f"returned {status} at line" in done.printed
    assert [one.rule for one in done.notes] == [rule]
    assert done.reason == done.notes[0].what


@pytest.mark.thorough
def test_a_view_with_strides(project: Path) -> None:
    """x is every second element of a row twice as long; the program lays it out, the framework gathers it."""
    copied = "CHECK(aclrtMemcpy(device[0], bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));"
    edit(project, f"test/{MAIN}", copied, """
  std::vector<uint16_t> wide(bytes);
  for (size_t i = 0; i < bytes / 2; ++i) memcpy(&wide[2 * i + 1], &host[2 * i], 2);
  void* spread = nullptr;
  CHECK(aclrtMalloc(&spread, 2 * bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemcpy(spread, 2 * bytes, wide.data(), 2 * bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  const int64_t strides[2] = {2 * CASE_SHAPE[1], 2};
  const int64_t stored = 2 * CASE_SHAPE[0] * CASE_SHAPE[1];
  tensors[0] = aclCreateTensor(CASE_SHAPE.data(), 2, CASE_DTYPE, strides, 1, ACL_FORMAT_ND, &stored, 1, spread);
""")  # fmt: skip
    done = run(project)
    assert (done.verdict, done.said) == ("failed", "TEST FAILED!")
    assert [one.rule for one in done.notes] == ["aclnn-view"]
    host = "op_host/scale_shift.cpp"
    text = (project / host).read_text()
    (project / host).write_text(text.replace('Input("x")', 'Input("x")\n        .AutoContiguous()'))
    done = run(project)
    assert done.passed, repr(done)
    assert done.notes == ()


ROW_BIAS = """// y = x + bias, and y = x without one; y lies in memory that holds 9 before.
#include <cstdio>
#include <vector>
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnn_row_bias.h"
static aclTensor* Make(std::vector<float> values, std::vector<int64_t> shape, void** at) {
  const size_t bytes = values.size() * sizeof(float);
  if (aclrtMalloc(at, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != 0) return nullptr;
  aclrtMemcpy(*at, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  return aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape.data(), shape.size(),
                         *at);
}
int main() {
  aclrtStream stream = nullptr;
  if (aclnnInit(nullptr) != 0 || aclrtCreateStream(&stream) != 0) return 1;
  void* memory[3];
  aclTensor* x = Make(std::vector<float>(15, 1.5f), {3, 5}, &memory[0]);
  aclTensor* bias = Make({0, 1, 2, 3, 4}, {5}, &memory[1]);
  aclTensor* y = Make(std::vector<float>(15, 9.0f), {3, 5}, &memory[2]);
  for (const aclTensor* one : {bias, static_cast<aclTensor*>(nullptr)}) {
    uint64_t size = 0;
    void* workspace = nullptr;
    aclOpExecutor* executor = nullptr;
    if (aclnnRowBiasGetWorkspaceSize(x, one, 1.0, y, &size, &executor) != 0) return 2;
    if (aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST) != 0) return 3;
    if (aclnnRowBias(workspace, size, executor, stream) != 0 || aclrtSynchronizeStream(stream) != 0) return 4;
    float found[15];
    aclrtMemcpy(found, sizeof(found), memory[2], sizeof(found), ACL_MEMCPY_DEVICE_TO_HOST);
    for (int i = 0; i < 15; ++i) {
      if (found[i] != 1.5f + (one != nullptr ? i % 5 : 0)) return 5;
    }
  }
  printf("test pass\\n");
  return 0;
}
"""


@pytest.mark.thorough
def test_a_kernel_template_an_optional_input_and_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(ROW_BIAS)
    done = run_own_test(PROJECT.parent / "row_bias", tmp_path)
    assert done.passed, repr(done)
    first, second = done.launches
    assert [name for name, _, _ in first.inputs] == ["x", "bias"]
    assert [name for name, _, _ in second.inputs] == ["x"]
    assert first.tiling_key != second.tiling_key
    assert first.workspace == 16 << 20


@pytest.mark.thorough
def test_a_tensor_in_host_memory(own_test: Path) -> None:
    edit(
        own_test,
        MAIN,
        "CASE_SHAPE.data(), CASE_SHAPE.size(), device[i]);",
        "CASE_SHAPE.data(), CASE_SHAPE.size(), host.data());",
    )
    done = run_test(own_test)
    assert isinstance(done.error, KernelFault)
    assert done.error.diagnostics[0].id == "host-wrong-side"


# --- no test to run --------------------------------------------------------------------------------------------------


def test_two_tests_are_a_choice() -> None:
    with pytest.raises(ArgumentError, match=r"has 2 tests: AclNNInvocation, test") as caught:
        run_own_test(PROJECT)
    assert caught.value.hint == "choose one: test_folder"


def test_no_test(project: Path) -> None:
    shutil.rmtree(project / "test")
    shutil.rmtree(project / "AclNNInvocation")
    with pytest.raises(ArgumentError, match=r"no test in .*: no file with a main includes aclnn_<operator>\.h"):
        run_own_test(project)
    with pytest.raises(ArgumentError, match="there is no folder"):
        run_own_test(project, project / "nowhere")


def test_operators_that_are_not_of_the_project(own_test: Path) -> None:
    edit(own_test, MAIN, '"aclnn_scale_shift.h"', '"aclnn_other.h"')
    with pytest.raises(ArgumentError, match="the test calls other, which the project does not have"):
        run_test(own_test)
    edit(own_test, MAIN, '"aclnn_other.h"', '"aclnn_scale_shift.h"\n#include "aclnnop/aclnn_add.h"')
    with pytest.raises(ArgumentError, match=r"includes aclnnop/aclnn_add\.h: an operator of CANN's own library"):
        run_test(own_test)


def test_a_test_of_models(own_test: Path) -> None:
    (own_test / "aclnn_test.cpp").write_text('int main() { aclopExecuteV2("ScaleShift"); }\n')
    with pytest.raises(ArgumentError, match="calls aclopExecuteV2: it runs an operator by its name or a model"):
        run_test(own_test)
