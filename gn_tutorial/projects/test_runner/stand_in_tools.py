"""Stands in for the tools that a test's scripts call, and for the programs that these tools build (``builder``).

A stand-in in the test's PATH sends its command line through a socket and prints the answer. A built program is replaced
by such a stand-in too, so the program runs inside the launcher's sandbox, whatever script started it.
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
from gn_tutorial.compiler.shim import MAIN_ENTRY
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.errors import ArgumentError, GntError, KernelCrash, KernelError, KernelFault
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.test_runner.aclnn_calls import CallServer, OwnTestLaunch
from gn_tutorial.projects.test_runner.builder import Builder
from gn_tutorial.projects.test_runner.test_folder import Room
from gn_tutorial.projects.test_runner.tool_command import ToolAnswer, ToolCommand
from gn_tutorial.projects.tiling_plan import PlanNote
from gn_tutorial.runtime.launch import launch
from gn_tutorial.runtime.launch_types import LaunchArg, LaunchRequest

_COMPILERS = frozenset("g++ c++ gcc cc clang++ clang bisheng ccec".split())
_LONGEST_COMMAND = 1 << 20
#: The output of npu-smi, from which scripts read the chip's name.
_NPU_SMI = "| NPU   Name                  | Health        |\n| 0     {name:<21} | OK            |\n"
_EXITED = re.compile(r"ended its process with exit\((\d+)\)")


@dataclass
class Happened:
    """The record of one test's tools and programs so far. programs: program -> exit code of its last run."""

    launches: list[OwnTestLaunch] = field(default_factory=list)
    notes: list[PlanNote] = field(default_factory=list)
    errors: list[GntError] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    programs: dict[str, int] = field(default_factory=dict)


class ToolServer:
    """Answers the stand-in tools of one test. Use it as a context manager.

    projects: operator type -> project. deadline: the end of the test's time, in seconds of ``time.monotonic``.
    observed, options, most_bytes, told: as in ``run_own_test``.
    """

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
        self._builder = Builder(room, definitions, left=self._left, told=told)
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
            command = ToolCommand(asked["words"][0], tuple(asked["words"][1:]), folder, asked["environment"])
            said = self._answer(command)
            link.settimeout(None)
            link.sendall(json.dumps({"code": said.code, "out": said.out, "err": said.err}).encode() + b"\n")

    def _answer(self, command: ToolCommand) -> ToolAnswer:
        try:
            return self._tool(command)
        except GntError as error:
            self.happened.errors.append(error)
            return ToolAnswer(1, err=f"{error}\n")
        except Exception as error:  # in a thread it would be lost, and the script would wait for an answer
            self.happened.errors.append(GntError(f"{command.tool} failed here: {error!r}"))
            return ToolAnswer(1, err=f"{command.tool}: {error!r}\n")

    def _tool(self, command: ToolCommand) -> ToolAnswer:
        tool, words = command.tool, command.words
        if tool == "gnt-run":
            return self._run(words[0], words[1:], command.folder)
        if "--version" in words:
            return ToolAnswer(out=f"{tool} version 3.28.1 (a stand-in; the twin's compiler does the work)\n")
        if tool == "cmake":
            return self._builder.cmake(command)
        if tool in ("make", "ninja", "gmake"):
            folder = command.folder / words[words.index("-C") + 1] if "-C" in words[:-1] else command.folder
            return ToolAnswer() if "clean" in words else self._builder.make(folder.resolve(), command.environment)
        if tool in _COMPILERS:
            return self._builder.compile(command)
        if tool == "gnt-programs":
            built = dict.fromkeys(path for _, path in self._builder.programs.values())
            return ToolAnswer(out="".join(f"{one}\n" for one in built))
        if tool == "gnt-outputs":
            return ToolAnswer(out=" ".join(map(str, _outputs(self._room.copies))) + "\n")
        if tool == "msprof":
            return self._profiled(command)
        names = [one.soc.name.removeprefix("Ascend") for one in self._projects.values()]
        return ToolAnswer(out=_NPU_SMI.format(name=names[0] if names else ""))

    def _profiled(self, command: ToolCommand) -> ToolAnswer:
        """Run the program that msprof would start, without profiling it."""
        words = [one for one in command.words if not one.startswith("-") and one != "op"]
        given = next((one for one in command.words if one.startswith("--application=")), "")
        words = shlex.split(given.partition("=")[2]) or words
        program = (command.folder / words[0]).resolve() if words else None
        for name, (_, path) in self._builder.programs.items():
            if path == program:
                said = self._run(name, words[1:], command.folder)
                return ToolAnswer(
                    said.code, said.out + "msprof is a stand-in here: gnt profile shows modelled times\n", said.err
                )
        raise ArgumentError("msprof is given no program of this test", where=shlex.join(["msprof", *command.words]))

    def _run(self, name: str, words: Sequence[str], folder: Path) -> ToolAnswer:
        library, path = self._builder.programs[name]
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
        # Errors of aclnn calls come first, because the program's later errors follow from them.
        self.happened.errors[:0] = calls.errors
        self.happened.programs[path.name] = said.code
        return said

    def _launched(self, library: Path, request: LaunchRequest, name: str) -> ToolAnswer:
        try:
            result = launch(library, request)
        except KernelError as error:
            exited = _EXITED.search(error.what) if isinstance(error, KernelCrash) else None
            if exited:  # a program may call exit; a kernel may not
                return ToolAnswer(int(exited[1]), out=error.printed)
            if isinstance(error, KernelFault):
                code = next((one.fields.get("code") for one in error.diagnostics if one.id == "host-main-failed"), None)
                if code is not None:
                    return ToolAnswer(int(code) & 0xFF or 1, out=error.printed)
            renamed = _of_program(error, name)
            self.happened.errors.append(renamed)
            return ToolAnswer(134, out=error.printed, err=f"{renamed}\n")
        self.happened.findings += result.diagnostics
        return ToolAnswer(out=result.printed)

    def _left(self) -> float:
        return self._deadline - time.monotonic()


def _of_program(error: KernelError, name: str) -> KernelError:
    """Return the launcher's error, reworded from a kernel to program ``name``; a KernelFault is unchanged."""
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
    """Return the files below ``root`` to compare: the first output, then the first golden; a missing one is omitted."""
    found = sorted(root.rglob("*.bin"))
    golden = [one for one in found if "golden" in one.name]
    outputs = [one for one in found if one.name.startswith("output") and one not in golden]
    return [*outputs[:1], *golden[:1]]
