"""The steps of ``gnt npu verify``, in their order. Each step builds or runs something, and yields rows of results.

A step that cannot go on raises an error; ``run`` makes a row of it and begins the next step. Work that could crash the
process is done in a separate process.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata, util
from pathlib import Path
from typing import Any

from gn_tutorial.abi.structs import ArgKind
from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.cpp.entries import Param
from gn_tutorial.errors import GntError, KernelError
from gn_tutorial.host import npu
from gn_tutorial.host.verify.report import Row, VerifyReport
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.registry import all_kernels, kernels_root, load_registry
from gn_tutorial.operators.space_findings import in_files
from gn_tutorial.operators.spec import KernelSpec, OpSpec
from gn_tutorial.projects.own_package import course_packages
from gn_tutorial.projects.packing import pack

_TAIL = 40  # the row of a failed process has this many of its last lines of output
_KERNEL_SECONDS, _TORCH_SECONDS, _PROJECT_SECONDS = 900, 1800, 3600


@dataclass
class VerifyWork:
    """The data that the steps share.

    kernels: prefixes of kernel ids. Only kernels whose id begins with one of them are run; without prefixes, all are.
    rounds: timed launches of each kernel and dtype. library: the library that the step ``build`` made.
    """

    report: VerifyReport
    device: int = 0
    rounds: int = 50
    kernels: Sequence[str] = ()
    library: Path | None = None
    environ: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def folder(self) -> Path:
        """The folder of builds, copies and logs."""
        return self.report.folder.resolve()

    def chosen(self) -> list[tuple[OpSpec, KernelSpec]]:
        """Return the registered kernels that the user asked for."""
        pairs = all_kernels(load_registry())
        return [one for one in pairs if not self.kernels or one[1].id.startswith(tuple(self.kernels))]


def require_toolkit() -> Path:
    """Return the CANN toolkit's folder. Raises KernelError, with a hint, if there is no toolkit."""
    if (found := npu.toolkit_path()) is None:
        raise KernelError(
            "there is no CANN toolkit here, so nothing can be verified",
            where="ASCEND_HOME_PATH",
            hint="run this on a machine with an NPU, after `source <CANN>/set_env.sh`; `gnt doctor` says what is there",
        )
    return found


def state_key(device: int) -> str:
    """Return a key that changes with the sources, the toolkit and the device. Rows with another key are not reused."""
    state = [f"{path}\n{path.read_text('utf-8', 'surrogateescape')}" for path in sorted(_sources())]
    return checksum("\n".join([str(require_toolkit()), str(device), *state]).encode("utf-8", "surrogateescape"))


def environment(work: VerifyWork) -> None:
    """Write the versions of the system, of Python, of CANN and of the packages into the report."""
    toolkit = require_toolkit()
    found = {"system": platform.platform(), "Python": platform.python_version(), "CANN": str(toolkit)}
    for path in sorted({*toolkit.glob("version.*"), *toolkit.glob("*.info"), *toolkit.glob("*/version.info")})[:4]:
        found[path.name] = " ".join(path.read_text("utf-8", "replace").split())[:200]
    for package in ("gn-tutorial", "torch", "torch_npu"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    work.report.environment |= found
    work.report.save()


def build(work: VerifyWork) -> Iterator[Row]:
    """Check the chosen kernels' memory qualifiers, then build one library; yield a row for each.

    The library has the host API and a launcher for every chosen kernel. A finding does not stop the build.
    """
    found, check = in_files(dict.fromkeys(spec.file for _, spec in work.chosen()))
    done = {"passed": not found, "error": "\n".join(found)} if check.compiler else {"skipped": check.not_done}
    yield {"name": "memory qualifiers", "passed": None, **done}
    launchers = work.folder / "launchers"
    written = write_launchers(work.chosen(), launchers)
    words = f"{work.environ.get('GNT_NPU_CMAKE', '')} -DGN_MORE_LAUNCHERS={launchers}"
    work.library = npu.build(work.folder / "build", {**work.environ, "GNT_NPU_CMAKE": words})
    yield {"name": npu.LIBRARY, "passed": True, "launchers": len(written), "library": str(work.library)}


def kernels(work: VerifyWork) -> Iterator[Row]:
    """Run every chosen kernel in a separate process, in every dtype; leave out kernels whose rows have all passed.

    Raises KernelError if the library was not built.
    """
    if work.library is None:
        raise KernelError("the library was not built, so no kernel could be run")
    for _, spec in work.chosen():
        names = [f"{spec.id} {dtype}" for dtype in spec.dtypes]
        if all(work.report.passed("kernels", name) for name in names):
            continue
        words = [str(work.library), spec.id, str(work.device), str(work.rounds)]
        for row in _rows_of(work, "gn_tutorial.host.verify.kernels", words, names, _KERNEL_SECONDS):
            work.report.environment |= {key: row.pop(key) for key in ("chip", "cores") if key in row}
            yield row


def pytorch(work: VerifyWork) -> Iterator[Row]:
    """Run our PyTorch operators on the NPU, forward and backward, and a training; yield their rows.

    If torch or torch_npu is missing, the only row says so.
    """
    if missing := [one for one in ("torch", "torch_npu") if util.find_spec(one) is None]:
        yield {"name": "operators", "passed": None, "skipped": f"{missing[0]} is not installed"}
        return
    yield from _rows_of(work, "gn_tutorial.host.verify.pytorch", [f"npu:{work.device}"], ["operators"], _TORCH_SECONDS)


def projects(work: VerifyWork) -> Iterator[Row]:
    """Pack and build every package of the course, install it below the report's folder, and run its aclnn tests.

    A package whose build passed in an earlier call is left out.
    """
    for project in (package.root for package in course_packages()):
        copy, home = work.folder / "projects" / project.name, work.folder / "home"
        if work.report.passed("projects", f"{project.name}: build"):
            continue
        shutil.rmtree(copy, ignore_errors=True)
        pack(project, copy)
        home.mkdir(parents=True, exist_ok=True)
        # run.sh searches below HOME for a package that the toolkit lacks. So install the package below a HOME of our
        # own; the toolkit stays as it is.
        variables = {"HOME": str(home), "ASCEND_CUSTOM_OPP_PATH": str(home / "vendors" / "customize")}
        name = f"{project.name}: build"
        row = _script(work, name, ["bash", "build.sh"], copy)
        yield row
        if not row["passed"]:
            continue
        for package in sorted((copy / "build").glob("custom_opp_*.run")):
            yield _script(work, f"{project.name}: install", ["bash", str(package), f"--install-path={home}"], copy)
        for test in sorted((copy / "test").glob("*/run.sh")):
            yield _script(work, f"{project.name}: {test.parent.name}", ["bash", "run.sh"], test.parent, variables)


#: Name -> step. Only ``kernels`` needs the result of an earlier step, the library of ``build``.
STEPS: dict[str, Callable[[VerifyWork], Iterator[Row]]] = {
    "build": build,
    "kernels": kernels,
    "pytorch": pytorch,
    "projects": projects,
}


def run(work: VerifyWork, names: Sequence[str], tell: Callable[[str, Row], None]) -> None:
    """Do the steps with these names, store each row, and call ``tell(step, row)``. An error of a step becomes a row."""
    environment(work)
    for name in names:
        rows = STEPS[name](work)
        while True:
            try:
                row = next(rows)
            except StopIteration:
                break
            except (GntError, OSError) as error:  # only the rest of this step is lost
                row = {"name": name, "passed": False, "error": str(error)}
            work.report.add(name, row)
            tell(name, row)


def _rows_of(work: VerifyWork, module: str, words: Sequence[str], names: Sequence[str], seconds: int) -> Iterator[Row]:
    """Run a module in a separate process, and yield the rows that it prints as JSON lines.

    If it failed or printed no row, also yield a row for each of ``names`` that it did not print.
    """
    command = [sys.executable, "-m", module, *words]
    code, out = _process(work, "-".join([module.rpartition(".")[2], *words[1:2]]), command, work.folder, seconds)
    seen = set()
    for line in out.splitlines():
        if line.startswith("{"):
            row = json.loads(line)
            seen.add(row["name"])
            yield row
    for name in names:
        if name not in seen and (code != 0 or not seen):
            yield {"name": name, "passed": False, "error": _said(code, out, command)}


def _script(
    work: VerifyWork, name: str, command: Sequence[str], folder: Path, more: dict[str, str] | None = None
) -> Row:
    code, out = _process(work, name.replace(": ", "-"), command, folder, _PROJECT_SECONDS, more)
    return (
        {"name": name, "passed": True}
        if code == 0
        else {"name": name, "passed": False, "error": _said(code, out, command)}
    )


def _process(
    work: VerifyWork, name: str, command: Sequence[str], folder: Path, seconds: int, more: dict[str, str] | None = None
) -> tuple[int, str]:
    """Run a process; return its exit code (-1 if it took too long) and its output, which is also stored in ``logs``."""
    log = work.folder / "logs" / f"{name.replace('/', '-')}.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as file:
        try:
            code = subprocess.run(
                command, cwd=folder, env={**work.environ, **(more or {})}, stdin=subprocess.DEVNULL, stdout=file,
                stderr=subprocess.STDOUT, timeout=seconds,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            code = -1
    text = log.read_text("utf-8", "replace")
    return code, text if code != -1 else f"{text}\nit was stopped after {seconds} s"


def _said(code: int, out: str, command: Sequence[str]) -> str:
    tail = "\n".join(out.splitlines()[-_TAIL:])
    return f"exit code {code} of {' '.join(map(str, command))}\n{tail}"


def _sources() -> list[Any]:
    folders = [path for path in kernels_root().iterdir() if path.is_dir()]
    suffixes = {".h", ".cpp", ".asc", ".toml", ".txt", ".cmake", ".sh"}
    return [path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes and path.is_file()]


_LAUNCHER = """\
// The kernel {entry}, unchanged, and its launcher. Written by gnt npu verify.
#include "../{file}"
#include "launchers.h"

extern "C" void gn_launch_{entry}(uint32_t blocks, void* stream, void* const* args) {{
{lines}
  {entry}<<<blocks, 0, stream>>>({names});
}}
"""


def write_launchers(kernels: Iterable[tuple[OpSpec, KernelSpec]], folder: Path) -> list[str]:
    """Write an ``.asc`` file into ``folder`` for each kernel that has none in ``kernels/npu``; return their entries.

    ``kernels/npu`` has such a file for each kernel that the host API launches. ``gnt npu verify`` runs all registered
    kernels, so the files of the others are in ``folder``, which CMake gets as an argument. Other ``.asc`` files there
    are removed. A file that already has the right text is not written, so that it is not compiled again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    there = {path.stem for path in (kernels_root() / "npu").glob("*.asc")}
    texts = {
        spec.entry: _launcher(spec, Kernel.registered(op, spec).entry(spec.entry).params)
        for op, spec in kernels
        if spec.entry not in there
    }
    for path in folder.glob("*.asc"):
        if path.stem not in texts:
            path.unlink()
    for entry, text in texts.items():
        path = folder / f"{entry}.asc"
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
    return list(texts)


def _launcher(spec: KernelSpec, params: Iterable[Param]) -> str:
    params = list(params)
    lines = [f"  {_argument(param, at)}" for at, param in enumerate(params)]
    file = spec.file.resolve().relative_to(kernels_root().resolve()).as_posix()
    names = ", ".join(param.name for param in params)
    return _LAUNCHER.format(entry=spec.entry, file=file, lines="\n".join(lines), names=names)


def _argument(param: Param, at: int) -> str:
    if param.kind != ArgKind.VALUE:
        return f"uint8_t* const {param.name} = static_cast<uint8_t*>(args[{at}]);"
    return f"const {param.ctype} {param.name} = *static_cast<const {param.ctype}*>(args[{at}]);"
