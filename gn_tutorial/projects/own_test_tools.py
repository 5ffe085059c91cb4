"""The tools that a test's scripts call: cmake, make, g++ and the programs that they make. The work is done here.

A tool in the test's PATH passes its command line on through a socket and prints what comes back. So the compiler is
that of every kernel here, whether the machine has cmake or not, and a program runs inside the launcher's walls.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.abi.structs import ArgKind, Role
from gn_tutorial.compiler.build import MAIN_ENTRY
from gn_tutorial.compiler.process import CompileLimits
from gn_tutorial.compiler.program_build import build_program
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import ArgumentError, GntError, KernelCrash, KernelError, KernelFault
from gn_tutorial.projects.aclnn import headers
from gn_tutorial.projects.aclnn_program import call_source
from gn_tutorial.projects.own_test_build import ProgramPlan, object_text, read_cmake, read_compiler
from gn_tutorial.projects.own_test_calls import CallServer, OwnTestLaunch
from gn_tutorial.projects.own_test_room import Room
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.tiling_plan import PlanNote
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

_COMPILERS = frozenset("g++ c++ gcc cc clang++ clang bisheng ccec".split())
_LONGEST_COMMAND = 1 << 20
#: What npu-smi says: scripts read the chip's name from it.
_NPU_SMI = "| NPU   Name                  | Health        |\n| 0     {name:<21} | OK            |\n"
_EXITED = re.compile(r"ended its process with exit\((\d+)\)")


@dataclass
class Happened:
    """What the tools have done so far. programs: exit code by program, of its last run."""

    launches: list[OwnTestLaunch] = field(default_factory=list)
    notes: list[PlanNote] = field(default_factory=list)
    errors: list[GntError] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    built: list[Path] = field(default_factory=list)
    programs: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Said:
    """The answer to one command."""

    code: int = 0
    out: str = ""
    err: str = ""


@dataclass(frozen=True)
class _Command:
    tool: str
    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]


class ToolServer:
    """Answers the tools of one test. Use as a context manager. projects: by operator type; deadline: time.monotonic."""

    def __init__(
        self,
        room: Room,
        projects: Mapping[str, Project],
        deadline: float,
        *,
        observed: bool,
        options: TwinOptions | None,
        most_bytes: int,
        told: Callable[[str], None],
    ) -> None:
        self.happened = Happened()
        self._room, self._projects, self._deadline, self._told = room, projects, deadline, told
        self._how: dict[str, Any] = {"observed": observed, "options": options, "most_bytes": most_bytes}
        definitions = [one.definition for one in projects.values()]
        self._headers = {name: text for one in definitions for name, text in headers(one).items()}
        self._calls = tuple(call_source(one) for one in definitions)
        self._configured: dict[Path, tuple[Path, dict[str, str]]] = {}
        self._libraries: dict[str, tuple[Path, Path]] = {}
        self._runs = 0
        self._threads: list[threading.Thread] = []
        self._stopped = False

    def __enter__(self) -> ToolServer:
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self._room.calls / "tools"))
        self._listening.listen(16)
        self._listening.settimeout(0.1)
        self._threads.append(threading.Thread(target=self._accept, name="tools", daemon=True))
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        for one in self._threads:
            one.join()
        self._listening.close()

    def _accept(self) -> None:
        while not self._stopped:
            with contextlib.suppress(TimeoutError):
                link, _ = self._listening.accept()
                thread = threading.Thread(target=self._serve, args=(link,), name="tool", daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, link: socket.socket) -> None:
        with link, contextlib.suppress(OSError):
            link.settimeout(10.0)
            data = bytearray()
            while not data.endswith(b"\n") and len(data) < _LONGEST_COMMAND and (more := link.recv(1 << 16)):
                data += more
            asked = json.loads(data)
            folder = Path(asked["folder"]).resolve()
            command = _Command(asked["words"][0], tuple(asked["words"][1:]), folder, asked["environment"])
            said = self._answer(command)
            link.settimeout(None)
            link.sendall(json.dumps({"code": said.code, "out": said.out, "err": said.err}).encode() + b"\n")

    def _answer(self, command: _Command) -> _Said:
        try:
            return self._tool(command)
        except GntError as error:
            self.happened.errors.append(error)
            return _Said(1, err=f"{error}\n")
        except Exception as error:  # a thread's exception would be lost, and the script would wait
            self.happened.errors.append(GntError(f"{command.tool} failed here: {error!r}"))
            return _Said(1, err=f"{command.tool}: {error!r}\n")

    def _tool(self, command: _Command) -> _Said:
        tool, words = command.tool, command.words
        if tool == "gnt-run":
            return self._run(words[0], words[1:], command.folder)
        if "--version" in words:
            return _Said(out=f"{tool} version 3.28.1 (a stand-in: what it would do is done by the twin's compiler)\n")
        if tool == "cmake":
            return self._cmake(command)
        if tool in ("make", "ninja", "gmake"):
            folder = command.folder / words[words.index("-C") + 1] if "-C" in words[:-1] else command.folder
            return _Said() if "clean" in words else self._build(folder.resolve(), command.environment)
        if tool in _COMPILERS:
            return self._compile(command)
        if tool == "gnt-programs":
            return _Said(out="".join(f"{one}\n" for one in self.happened.built))
        if tool == "gnt-outputs":
            return _Said(out=" ".join(map(str, _outputs(self._room.copies))) + "\n")
        if tool == "msprof":
            return self._profiled(command)
        names = [one.soc.name.removeprefix("Ascend") for one in self._projects.values()]
        return _Said(out=_NPU_SMI.format(name=names[0] if names else ""))

    # --- builds ------------------------------------------------------------------------------------------------------

    def _cmake(self, command: _Command) -> _Said:
        words, folder = list(command.words), command.folder
        if "--build" in words:
            return self._build((folder / words[words.index("--build") + 1]).resolve(), command.environment)
        if "--install" in words or "-E" in words:
            return _Said()
        source, binary, variables = None, folder, {}
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            option = word[:2] if word[:2] in ("-S", "-B", "-D", "-G") else ""
            value = word[2:]
            if option and not value and at < len(words):
                value, at = words[at], at + 1
            if option == "-S":
                source = folder / value
            elif option == "-B":
                binary = folder / value
            elif option == "-D":
                name, _, text = value.partition("=")
                variables[name.split(":")[0]] = text
            elif not word.startswith("-"):
                source = folder / word
        source, binary = (source or folder).resolve(), binary.resolve()
        if not (source / "CMakeLists.txt").is_file():
            raise ArgumentError(f"cmake: there is no CMakeLists.txt in {source}", where=shlex.join(["cmake", *words]))
        binary.mkdir(parents=True, exist_ok=True)
        (binary / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={source}\n")
        (binary / "Makefile").write_text("# make is a stand-in here.\n")
        self._configured[binary] = (source, variables)
        return _Said(out=f"-- Build files have been written to: {binary}\n")

    def _build(self, binary: Path, environment: Mapping[str, str]) -> _Said:
        if binary not in self._configured:
            raise ArgumentError(
                f"make: {binary.name} was not configured by cmake",
                where=str(binary),
                hint="a Makefile of the test's own is not read: cmake or g++ lines in run.sh are",
            )
        source, variables = self._configured[binary]
        plans = read_cmake(source, binary, environment, variables)
        if not plans:
            return self._package(binary)
        lines = []
        for plan in plans:
            self._make(plan)
            lines.append(f"[100%] Built target {plan.path.name}\n")
        return _Said(out="".join(lines))

    def _package(self, binary: Path) -> _Said:
        """A project of operators, not of a program: its package would be installed; here the sources are what runs."""
        package = binary / "custom_opp_linux_stand-in.run"
        package.write_text('#!/bin/sh\necho "a stand-in: the operators are run from their sources"\n')
        package.chmod(0o755)
        return _Said(out=f"operators need no build here; {package.name} is a stand-in\n")

    def _compile(self, command: _Command) -> _Said:
        call = read_compiler(command.words, command.folder)
        if call.compiles_only:
            call.plan.path.write_text(object_text(call.plan))
        else:
            self._make(call.plan)
        return _Said()

    def _make(self, plan: ProgramPlan) -> None:
        self._told(f"compiling {plan.path.name}")
        if not plan.sources:
            raise ArgumentError(f"{plan.path.name} has no source", where=str(plan.path.parent))
        missing = [one for one in plan.sources if not one.is_file()]
        if missing:
            raise ArgumentError(f"there is no file {missing[0].name}", where=str(missing[0]))
        own = (self._room.toolkit, self._room.home)
        folders = [one for one in plan.include_dirs if one.is_dir() and not any(one.is_relative_to(two) for two in own)]
        built = build_program(
            [self._room.original(one) for one in plan.sources],
            headers=self._headers,
            calls=self._calls,
            include_dirs=[self._room.original(one) for one in folders],
            defines=plan.defines,
            limits=CompileLimits(seconds=max(1.0, self._left())),
        )
        name = str(len(self._libraries) + 1)
        self._libraries[name] = (built.library, plan.path)
        self._room.put_program(plan.path, name)
        if plan.path not in self.happened.built:
            self.happened.built.append(plan.path)

    # --- programs ----------------------------------------------------------------------------------------------------

    def _profiled(self, command: _Command) -> _Said:
        """msprof, which starts a program: that runs, and is not profiled."""
        words = [one for one in command.words if not one.startswith("-") and one != "op"]
        given = next((one for one in command.words if one.startswith("--application=")), "")
        words = shlex.split(given.partition("=")[2]) or words
        program = (command.folder / words[0]).resolve() if words else None
        for name, (_, path) in self._libraries.items():
            if path == program:
                said = self._run(name, words[1:], command.folder)
                return _Said(
                    said.code, said.out + "msprof is a stand-in here: gnt profile shows modelled times\n", said.err
                )
        raise ArgumentError("msprof is given no program of this test", where=shlex.join(["msprof", *command.words]))

    def _run(self, name: str, words: Sequence[str], folder: Path) -> _Said:
        library, path = self._libraries[name]
        if not folder.is_relative_to(self._room.root):
            raise ArgumentError(f"{path.name} is run in {folder}, outside the test's copy")
        self._runs += 1
        place = self._room.calls / str(self._runs)
        args = [LaunchArg("@calls", ArgKind.VALUE, Role.IN, str(place).encode())]
        args += [
            LaunchArg(f"argv{at}", ArgKind.VALUE, Role.IN, one.encode()) for at, one in enumerate([str(path), *words])
        ]
        request = LaunchRequest(
            entry=MAIN_ENTRY,
            args=args,
            limits=Limits(seconds=max(1.0, self._left())),
            folder=self._room.root,
            start=folder,
        )
        self._told(f"running {path.name}")
        with CallServer(place, self._projects, seconds_left=self._left, told=self._told, **self._how) as calls:
            said = self._launched(library, request, path.name)
        self.happened.launches += calls.launches
        self.happened.notes += [one for one in calls.notes if one not in self.happened.notes]
        # What went wrong in a call is the reason for what the program did afterwards.
        self.happened.errors[:0] = calls.errors
        self.happened.programs[path.name] = said.code
        return said

    def _launched(self, library: Path, request: LaunchRequest, name: str) -> _Said:
        try:
            result = launch(library, request)
        except KernelError as error:
            exited = _EXITED.search(error.what) if isinstance(error, KernelCrash) else None
            if exited:  # of a program that is an ordinary end
                return _Said(int(exited[1]), out=error.printed)
            if isinstance(error, KernelFault):
                code = next((one.fields.get("code") for one in error.diagnostics if one.id == "host-main-failed"), None)
                if code is not None:
                    return _Said(int(code) & 0xFF or 1, out=error.printed)
            renamed = _of_program(error, name)
            self.happened.errors.append(renamed)
            return _Said(134, out=error.printed, err=f"{renamed}\n")
        self.happened.findings += result.diagnostics
        return _Said(out=result.printed)

    def _left(self) -> float:
        return self._deadline - time.monotonic()


def _of_program(error: KernelError, name: str) -> KernelError:
    """The launcher's error, in the words of a program."""
    if isinstance(error, KernelFault):
        return error
    what = (
        error.what.replace("the kernel", name)
        .replace("'main' ran", f"{name} ran")
        .replace("which no kernel", "which no test")
    )
    hint = error.hint.replace("a kernel only computes and prints", "it may write files in the test's own copy only")
    return type(error)(what, printed=error.printed, where=error.where, hint=hint, detail=error.detail)


def _outputs(root: Path) -> list[Path]:
    """The files that a comparison is given, in the usual order: output, golden."""
    found = sorted(root.rglob("*.bin"))
    golden = [one for one in found if "golden" in one.name]
    outputs = [one for one in found if one.name.startswith("output") and one not in golden]
    return [*outputs[:1], *golden[:1]]
