"""Whole samples, compiled and run: host calls, launches, diagnostics of both sides, files."""

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from thoroughness import some
from typer.testing import CliRunner

from gn_tutorial.abi.options import Limits
from gn_tutorial.cli import app
from gn_tutorial.errors import CompileError, KernelCrash, KernelFault, KernelTimeout
from gn_tutorial.runtime.sample_run import run_sample
from gn_tutorial.timing.machine import DEFAULT_MACHINE, load_machine

# Half of the time of compiling: what a sample prints, and where it goes wrong, is the same. The first two tests run the
# code as it is compiled for use.
run_quickly = functools.partial(run_sample, optimise="little")
Write = Callable[..., Path]

# The kernel doubles n floats, one block after another; `{...}` are the places that the tests change.
SAMPLE = """#include <cstdio>
#include <vector>
#include "acl/acl.h"
#include "kernel_operator.h"

template <typename T>
__global__ __vector__ void twice(__gm__ uint8_t* x, __gm__ uint8_t* y, uint32_t n) {
  AscendC::TPipe pipe;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> in;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
  AscendC::GlobalTensor<T> source, target;
  source.SetGlobalBuffer((__gm__ T*)x + AscendC::GetBlockIdx() * n, n);
  target.SetGlobalBuffer((__gm__ T*)y + AscendC::GetBlockIdx() * n, n);
  pipe.InitBuffer(in, 1, n * sizeof(T));
  pipe.InitBuffer(out, 1, n * sizeof(T));
  AscendC::LocalTensor<T> a = in.AllocTensor<T>();
  AscendC::DataCopy(a, source, n);
  in.EnQue(a);
  a = in.DeQue<T>();
  AscendC::LocalTensor<T> b = out.AllocTensor<T>();
  AscendC::Add(b, a, a, n);
  out.EnQue(b);
  in.FreeTensor(a);
  b = out.DeQue<T>();
  AscendC::DataCopy(target, b, n);
  out.FreeTensor(b);
}

int32_t main(int32_t argc, char* argv[]) {
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  std::vector<float> host(64), back(64);
  for (int i = 0; i < 64; ++i) host[i] = i;
  void *x = nullptr, *y = nullptr;
  aclrtMalloc(&x, 256, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&y, SIZE, ACL_MEM_MALLOC_HUGE_FIRST);
  COPY_IN;
  twice<float><<<BLOCKS, nullptr, stream>>>((uint8_t*)x, (uint8_t*)y, 32);
  SYNC;
  aclrtMemcpy(back.data(), 256, y, 256, ACL_MEMCPY_DEVICE_TO_HOST);
  printf("%g %g %s\\n", back[1], back[63], argc > 1 ? argv[1] : "none");
  AFTER;
  aclrtFree(x);
  aclrtFree(y);
  aclrtDestroyStream(stream);
  aclFinalize();
}
"""
GOOD = {
    "COPY_IN": "aclrtMemcpy(x, 256, host.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE)",
    "SYNC": "aclrtSynchronizeStream(stream)",
    "SIZE": "256",
    "BLOCKS": "2",
    "AFTER": "(void)0",
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(**changes: str) -> Path:
        text = SAMPLE
        for name, value in {**GOOD, **changes}.items():
            text = text.replace(name, value)
        path = tmp_path / "twice.asc"
        path.write_text(text)
        return path

    return make


# All mistakes in one program, which is compiled once: its first word says which of them is made.
MISTAKES = {
    "longer than the host's": ("COPY_IN", "aclrtMemcpy(x, 512, host.data(), 260, ACL_MEMCPY_HOST_TO_DEVICE)"),
    "longer than the destination": ("COPY_IN", "aclrtMemcpy(x, 128, host.data(), 256, ACL_MEMCPY_HOST_TO_DEVICE)"),
    "the wrong way": ("COPY_IN", "aclrtMemcpy(host.data(), 256, x, 256, ACL_MEMCPY_HOST_TO_DEVICE)"),
    "a null pointer": ("COPY_IN", "aclrtMemset(nullptr, 256, 0, 256)"),
    "nothing copied in": ("COPY_IN", "(void)0"),
    "not synchronised": ("SYNC", "(void)0"),
    "freed twice": ("AFTER", "aclrtFree(x)"),
    "freed as the host's": ("AFTER", "aclrtFreeHost(x)"),
    "a stream that is gone": ("AFTER", "aclrtDestroyStream(stream); aclrtSynchronizeStream(stream)"),
    "main fails": ("AFTER", "if (back[1] > 0) return 3"),
    "an exception": ("AFTER", "host.at(64)"),
    "no end": ("AFTER", "for (volatile int i = 0;; i = i + 1) {}"),
    "no blocks": ("BLOCKS", "0"),
    "a short allocation": ("SIZE", "128"),
    "an odd allocation": ("SIZE", "193"),
    "an offset too far": ("COPY_IN", "y = (char*)y + (size_t{12} << 30)"),
}


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = SAMPLE.replace("{\n  aclInit", '{\n  std::string made = argc > 1 ? argv[1] : "";\n  aclInit')
    for place, good in GOOD.items():
        mine = [(name, code) for name, (where, code) in MISTAKES.items() if where == place]
        if place in ("SIZE", "BLOCKS"):
            text = text.replace(place, "".join(f'made == "{name}" ? {code} : ' for name, code in mine) + good)
        else:
            each = "".join(f'if (made == "{name}") {{ {code}; }}\n  else ' for name, code in mine)
            text = text.replace(f"  {place};", f"  {each}{good};")
    path = tmp_path_factory.mktemp("mistaken") / "twice.asc"
    path.write_text(text.replace("#include <vector>", "#include <string>\n#include <vector>"))
    return path


def line_of(path: Path, mark: str) -> int:
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if mark in line)


def test_a_sample_runs_and_prints(write: Write) -> None:
    done = run_sample(write(), ["word"])
    assert done.launched.printed == "2 126 word\n"
    assert done.launched.tally.vector == 2
    assert done.launched.tally.bytes_in == 256
    assert done.launched.diagnostics == ()


def test_without_words_and_bare(write: Write) -> None:
    assert run_sample(write(), observed=False).launched.printed == "2 126 none\n"


OPTIMISED = """
#include <cstdio>
#include "acl/acl.h"
__global__ __vector__ void k(GM_ADDR x) {}
int main() {
#ifdef __OPTIMIZE__
  printf("optimised ");
#endif
  printf("done");
  return 0;
}
"""


@pytest.mark.thorough  # once at -O3
def test_gnt_run_compiles_a_sample_as_asked(tmp_path: Path) -> None:
    (tmp_path / "s.asc").write_text(OPTIMISED)
    run = ["run", str(tmp_path / "s.asc")]
    assert CliRunner().invoke(app.app, run).stdout == "optimised done\n"
    assert CliRunner().invoke(app.app, [*run, "--unoptimised"]).stdout == "done\n"


@pytest.mark.parametrize(("mistake", "block"), [("a short allocation", 1), ("an offset too far", 0)])
def test_a_kernel_that_leaves_an_allocation_is_stopped_at_its_own_line(
    mistaken: Path, mistake: str, block: int
) -> None:
    path = mistaken
    with pytest.raises(KernelFault) as error:
        run_quickly(path, [mistake])
    found = error.value.diagnostics[0]
    assert (found.id, found.file, found.line, found.block) == (
        "gm-out-of-bounds", str(path), line_of(path, "DataCopy(target"), block,
    )  # fmt: skip
    assert f"aclrtMalloc of line {line_of(path, 'aclrtMalloc(&y')}" in found.what


@pytest.mark.parametrize(
    ("mistake", "diagnostic", "mark"),
    [
        ("longer than the host's", "host-out-of-bounds", "260"),
        ("longer than the destination", "host-copy-too-long", "x, 128"),
        ("the wrong way", "host-wrong-side", "256, x"),
        ("a null pointer", "host-null", "aclrtMemset"),
        ("no blocks", "host-bad-blocks", "twice<float><<<"),
        ("freed twice", "host-bad-free", "  aclrtFree(x);"),
        ("freed as the host's", "host-wrong-free", "aclrtFreeHost"),
        ("a stream that is gone", "host-bad-stream", "none"),
    ],
)
def test_wrong_host_calls(mistaken: Path, mistake: str, diagnostic: str, mark: str) -> None:
    path = mistaken
    with pytest.raises(KernelFault) as error:
        run_quickly(path, [mistake])
    found = error.value.diagnostics[0]
    assert found.id == diagnostic
    assert found.file == str(path)
    if diagnostic == "host-bad-free":  # the second of the two
        assert found.line == line_of(path, "aclrtFree(y)") - 1
    elif mark != "none":
        assert found.line == line_of(path, mark)
    assert found.what != found._spelt_out()
    assert found.why
    assert found.fix


def test_a_copy_before_synchronising_is_a_warning(mistaken: Path) -> None:
    path = mistaken
    done = run_quickly(path, ["not synchronised"])
    (found,) = done.launched.diagnostics
    assert (found.id, found.severity, found.line) == (
        "host-not-synchronised", "warning", line_of(path, "aclrtMemcpy(back"),
    )  # fmt: skip


def test_main_that_fails_is_an_error_with_what_it_printed(mistaken: Path) -> None:
    with pytest.raises(KernelFault, match="returned 3") as error:
        run_quickly(mistaken, ["main fails"])
    assert error.value.printed == "2 126 main fails\n"


def test_an_exception_of_the_host_is_told(mistaken: Path) -> None:
    with pytest.raises(KernelFault, match="exception left the sample's main: vector") as error:
        run_quickly(mistaken, ["an exception"])
    assert error.value.diagnostics[0].id == "host-exception"


def test_compile_errors_are_at_the_sample_s_own_lines(write: Write) -> None:
    path = write(AFTER="int wrong = unknown_name")
    with pytest.raises(CompileError) as error:
        run_quickly(path)
    first = error.value.errors[0]
    assert (first.file, first.line) == (path, line_of(path, "unknown_name"))
    assert "unknown_name" in first.source_line


def test_the_time_limit_holds(mistaken: Path) -> None:
    with pytest.raises(KernelTimeout):
        run_quickly(mistaken, ["no end"], limits=Limits(seconds=1.0))


def test_unwritten_device_memory_is_not_zero(mistaken: Path) -> None:
    assert run_quickly(mistaken, ["nothing copied in"]).launched.printed.startswith(("nan", "-nan"))


def test_a_kernel_may_read_what_the_allocation_reserves(mistaken: Path) -> None:
    # The size rounded up to 32 bytes and 32 more: 193 bytes reserve 256.
    path = mistaken
    with pytest.raises(KernelFault) as error:  # the copy back asks for 256 and is held to 193
        run_quickly(path, ["an odd allocation"])
    assert error.value.diagnostics[0].id == "host-out-of-bounds"
    assert error.value.diagnostics[0].line == line_of(path, "aclrtMemcpy(back")


WRITES = """#include <cstdio>
#include <fstream>
#include "acl/acl.h"
__global__ __vector__ void k(GM_ADDR x) {}
int main(int argc, char** argv) {
  std::ifstream in("in.txt");
  std::string word;
  in >> word;
  std::ofstream out(argv[1]);
  out << word << word;
  out.close();
  printf("%d\\n", out.good() ? 1 : 0);
  return 0;
}
"""
FILTERED = pytest.mark.skipif(sys.platform != "linux", reason="system calls are filtered on Linux only")


@pytest.fixture
def writer(tmp_path: Path) -> tuple[Path, Path]:
    path, folder = tmp_path / "writes.asc", tmp_path / "files"
    path.write_text(WRITES)
    folder.mkdir()
    (folder / "in.txt").write_text("ab")
    return path, folder


def test_files_are_read_and_written_in_the_folder(writer: tuple[Path, Path]) -> None:
    path, folder = writer
    for name in ("out.txt", str(folder / "absolute.txt")):
        assert run_quickly(path, [name], folder=folder).launched.printed == "1\n"
        assert (folder / name).read_text() == "abab"


@FILTERED
@pytest.mark.parametrize("name", some(["../outside.txt", "{parent}/outside.txt", "{folder}/../outside.txt"], 2))
def test_no_file_outside_the_folder(writer: tuple[Path, Path], name: str) -> None:
    path, folder = writer
    with pytest.raises(KernelCrash, match="opened a file for writing"):
        run_quickly(path, [name.format(parent=folder.parent, folder=folder)], folder=folder)
    assert not (folder.parent / "outside.txt").exists()


@FILTERED
def test_a_link_out_of_the_folder_is_not_followed(writer: tuple[Path, Path]) -> None:
    path, folder = writer
    (folder.parent / "target.txt").write_text("old")
    (folder / "link.txt").symlink_to(folder.parent / "target.txt")
    assert run_quickly(path, ["link.txt"], folder=folder).launched.printed == "0\n"
    assert (folder.parent / "target.txt").read_text() == "old"


@pytest.mark.thorough
@FILTERED
def test_a_folder_behind_a_link_is_outside(writer: tuple[Path, Path]) -> None:
    path, folder = writer
    (folder / "link").symlink_to(folder.parent)
    with pytest.raises(KernelCrash, match="opened a file for writing"):
        run_quickly(path, ["link/outside.txt"], folder=folder)
    assert not (folder.parent / "outside.txt").exists()


@pytest.mark.thorough
@FILTERED
def test_it_may_start_in_a_folder_below(writer: tuple[Path, Path]) -> None:
    path, folder = writer
    (folder / "build").mkdir()
    (folder / "build" / "in.txt").write_text("cd")
    for name in ("here.txt", "../above.txt", "../build/../build/round.txt"):
        assert run_quickly(path, [name], folder=folder, start=folder / "build").launched.printed == "1\n"
        assert (folder / "build" / name).read_text() == "cdcd"
    with pytest.raises(KernelCrash, match="opened a file for writing"):
        run_quickly(path, ["../../outside.txt"], folder=folder, start=folder / "build")


FOLDERS = """#include <cstdio>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include "acl/acl.h"
__global__ __vector__ void k(GM_ADDR x) {}
int main(int argc, char** argv) {
  int done = mkdir(argv[1], 0700);
  printf("%d %d;", done, done ? errno : 0);
  done = mkdir(argv[1], 0700);
  printf("%d;", done && errno == EEXIST);
  printf("%d %d %d\\n", rmdir(argv[1]), unlink("in.txt"), unlink("none.txt") && errno == ENOENT);
  return 0;
}
"""


@FILTERED
def test_folders_are_made_and_files_deleted_in_the_folder_only(writer: tuple[Path, Path]) -> None:
    path, folder = writer
    path.write_text(FOLDERS)
    assert run_quickly(path, ["output/"], folder=folder).launched.printed == "0 0;1;0 0 1\n"
    assert list(folder.iterdir()) == []
    with pytest.raises(KernelCrash, match="made the system call mkdir"):
        run_quickly(path, ["../output"], folder=folder)
    with pytest.raises(KernelCrash, match="made the system call mkdir"):
        run_quickly(path, ["output"])
    assert sorted(one.name for one in folder.parent.iterdir()) == ["files", "writes.asc"]


@FILTERED
def test_without_a_folder_nothing_is_written(writer: tuple[Path, Path]) -> None:
    path, folder = writer
    with pytest.raises(KernelCrash, match="opened a file for writing"):
        run_quickly(path, [str(folder / "out.txt")])


TILING = """#include <cstdio>
#include "acl/acl.h"
#include "kernel_tiling/kernel_tiling.h"
#include "tiling/tiling_api.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(Plan)
TILING_DATA_FIELD_DEF(uint8_t, small);
TILING_DATA_FIELD_DEF(uint32_t, tmp);
END_TILING_DATA_DEF;
}
__global__ __vector__ void k(GM_ADDR x, optiling::Plan plan) {
  AscendC::GlobalTensor<uint32_t> g;
  g.SetGlobalBuffer((__gm__ uint32_t*)x);
  if (block_idx == 0) g.SetValue(0, plan.tmp + plan.small);
}
int main() {
  AscendC::TensorShape shape({4, 100});
  uint32_t most = 0, least = 0, row = 0;
  AscendC::GetExpMaxMinTmpSize(shape, sizeof(float), false, most, least);
  AscendC::GetSumMaxMinTmpSize(100u, sizeof(float), false, most, row);
  auto* platform = platform_ascendc::PlatformAscendCManager::GetInstance();
  uint64_t ub = 0;
  platform->GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
  optiling::Plan plan, copy;
  plan.set_small(3);
  plan.set_tmp(least);
  int refused = memcpy_s(&copy, sizeof(copy) - 1, &plan, sizeof(plan));
  memcpy_s(&copy, sizeof(copy), &plan, sizeof(plan));
  uint32_t *x = nullptr, back = 0;
  aclrtMalloc((void**)&x, 32, ACL_MEM_MALLOC_HUGE_FIRST);
  k<<<platform->GetCoreNumAiv(), nullptr, nullptr>>>((uint8_t*)x, copy);
  aclrtSynchronizeDevice();
  aclrtMemcpy(&back, 4, x, 4, ACL_MEMCPY_DEVICE_TO_HOST);
  aclrtFree(x);
  printf("%u %u %u %lu %d %zu\\n", back, least, row, ub, refused != 0, sizeof(plan));
}
"""


def test_host_tiling_shapes_and_platform(tmp_path: Path) -> None:
    path = tmp_path / "tiling.asc"
    path.write_text(TILING)
    # 400 floats are 1600 bytes, rounded up to 1792; 100 floats 512. A byte, padding and four bytes are 8.
    assert run_quickly(path).launched.printed == "1795 1792 512 196352 1 8\n"


CHIP = """#include <cstdio>
#include "acl/acl.h"
#include "kernel_operator.h"
#include "tiling/platform/platform_ascendc.h"
__global__ __aicore__ void k(GM_ADDR) {}
int main() {
  auto* platform = platform_ascendc::PlatformAscendCManager::GetInstance();
  int64_t vector = 0, cube = 0;
  aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &vector);
  aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, &cube);
  uint64_t ub = 0, l2 = 0;
  platform->GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
  platform->GetCoreMemSize(platform_ascendc::CoreMemType::L2, l2);
  printf("%s %u %u ", aclrtGetSocName(), platform->GetCoreNumAiv(), platform->GetCoreNumAic());
  printf("%ld %ld %lu %lu\\n", vector, cube, ub, l2);
}
"""


def test_host_code_hears_of_the_default_chip(tmp_path: Path) -> None:
    path = tmp_path / "chip.asc"
    path.write_text(CHIP)
    chip = load_machine()
    cores = f"{chip.cores:g} {chip.cores / 2:g}"
    expected = f"Ascend{DEFAULT_MACHINE} {cores} {cores} {chip.ub_bytes - 256:.0f} {chip.l2_bytes:.0f}\n"
    assert run_quickly(path).launched.printed == expected


ICPU = """#include <cstdio>
#include "tikicpulib.h"
extern "C" __global__ __aicore__ void div(GM_ADDR x, GM_ADDR y) {
  AscendC::GlobalTensor<int32_t> a, b;
  a.SetGlobalBuffer((__gm__ int32_t*)x);
  b.SetGlobalBuffer((__gm__ int32_t*)y);
  if (TILING_KEY_IS(7)) b.SetValue(16 * block_idx, a.GetValue(block_idx) / 2);
}
int main() {
  auto* x = (uint8_t*)AscendC::GmAlloc(16);
  auto* y = (uint8_t*)AscendC::GmAlloc(256);  // a cache line for each block
  for (int i = 0; i < 4; ++i) ((int32_t*)x)[i] = 10 * i;
  AscendC::SetKernelMode(KernelMode::AIV_MODE);
  ICPU_SET_TILING_KEY(7);
  ICPU_RUN_KF(div, 4, x, y);
  printf("%d %d\\n", ((int32_t*)y)[16], ((int32_t*)y)[48]);
  AscendC::GmFree(x);
  AscendC::GmFree(y);
  return 0;
}
"""


def test_the_cpu_debugging_interface(tmp_path: Path) -> None:
    path = tmp_path / "icpu.cpp"
    path.write_text(ICPU)
    assert run_quickly(path).launched.printed == "5 15\n"


BOTH = """#include <cstdio>
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void both(GM_ADDR x) {
  AscendC::GlobalTensor<int32_t> a;
  a.SetGlobalBuffer((__gm__ int32_t*)x);
  a.SetValue(0, 7);
}
#ifndef MODE
extern "C" void both_do(uint32_t blocks, void* stream, uint8_t* x) { both<<<blocks, nullptr, stream>>>(x); }
#include "acl/acl.h"
#else
#include "tikicpulib.h"
#endif
int main() {
#ifdef MODE
  auto* x = (uint8_t*)AscendC::GmAlloc(32);
  ICPU_RUN_KF(both, 1, x);
  printf("cpu %d\\n", ((int32_t*)x)[0]);
  AscendC::GmFree(x);
#else
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  uint8_t* x = nullptr;
  aclrtMalloc((void**)&x, 32, ACL_MEM_MALLOC_HUGE_FIRST);
  both_do(1, stream, x);
  aclrtSynchronizeStream(stream);
  int32_t y = 0;
  aclrtMemcpy(&y, 4, x, 4, ACL_MEMCPY_DEVICE_TO_HOST);
  printf("npu %d\\n", y);
  aclrtFree(x);
  aclrtDestroyStream(stream);
#endif
  return 0;
}
"""


@pytest.mark.parametrize(("macro", "printed"), [("ASCENDC_CPU_DEBUG", "cpu 7\n"), ("__CCE_KT_TEST__", "npu 7\n")])
def test_samples_for_both_targets_run_by_either_macro(tmp_path: Path, macro: str, printed: str) -> None:
    """Of CANN's two macros of a CPU build the twin has the one without which kernels leave SyncAll out."""
    path = tmp_path / "both.cpp"
    path.write_text(BOTH.replace("MODE", macro))
    assert run_quickly(path).launched.printed == printed
