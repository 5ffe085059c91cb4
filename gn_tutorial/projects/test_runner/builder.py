"""Replaces cmake, make and compilers in a test, so that the machine needs neither cmake nor make.

The compiler that builds the twin's kernels also builds the test's programs.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from gn_tutorial.compiler.process import CompileLimits
from gn_tutorial.compiler.program_build import build_program
from gn_tutorial.errors import ArgumentError
from gn_tutorial.projects.aclnn import call_source, headers
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.test_runner.build_files import ProgramPlan, object_text, read_cmake, read_compiler
from gn_tutorial.projects.test_runner.test_folder import Room
from gn_tutorial.projects.test_runner.tool_command import ToolAnswer, ToolCommand


class Builder:
    """Builds the programs of one test.

    programs: number as text -> (library, path at which the test's script expects the program). left: returns the
    seconds that are left for a build. told: called with a line of text before each program is compiled.
    """

    def __init__(
        self, room: Room, definitions: Iterable[OpDefinition], *, left: Callable[[], float], told: Callable[[str], None]
    ) -> None:
        definitions = list(definitions)
        self.programs: dict[str, tuple[Path, Path]] = {}
        self._room, self._left, self._told = room, left, told
        self._headers = {name: text for one in definitions for name, text in headers(one).items()}
        self._calls = tuple(call_source(one) for one in definitions)
        self._configured: dict[Path, tuple[Path, dict[str, str]]] = {}

    def cmake(self, command: ToolCommand) -> ToolAnswer:
        """Do what a command line of cmake asks for: remember a folder for a later build, or build it (--build).

        ``--install`` and ``-E`` do nothing. Raises ArgumentError if there is no CMakeLists.txt; for a build, the errors
        of ``make``.
        """
        words, folder = list(command.words), command.folder
        if "--build" in words:
            return self.make((folder / words[words.index("--build") + 1]).resolve(), command.environment)
        if "--install" in words or "-E" in words:
            return ToolAnswer()
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
        return ToolAnswer(out=f"-- Build files have been written to: {binary}\n")

    def make(self, binary: Path, environment: Mapping[str, str]) -> ToolAnswer:
        """Build the programs of a build folder. If there are none, write a stand-in for the package of the operators.

        Raises ArgumentError if cmake did not configure the folder, or if a source is missing; and the errors of
        ``build_program``.
        """
        if binary not in self._configured:
            raise ArgumentError(
                f"make: {binary.name} was not configured by cmake",
                where=str(binary),
                hint="a Makefile of the test's own is not read; only cmake or g++ lines in run.sh are",
            )
        source, variables = self._configured[binary]
        plans = read_cmake(source, binary, environment, variables)
        if not plans:
            return self._package(binary)
        lines = []
        for plan in plans:
            self._program(plan)
            lines.append(f"[100%] Built target {plan.path.name}\n")
        return ToolAnswer(out="".join(lines))

    def _package(self, binary: Path) -> ToolAnswer:
        """Write a stand-in for the package that a project's build makes. Operators run from their sources here."""
        package = binary / "custom_opp_linux_stand-in.run"
        package.write_text('#!/bin/sh\necho "a stand-in: the operators are run from their sources"\n')
        package.chmod(0o755)
        return ToolAnswer(out=f"operators need no build here; {package.name} is a stand-in\n")

    def compile(self, command: ToolCommand) -> ToolAnswer:
        """Do what a compiler's command line asks for: write an object (with -c) or build a program.

        Raises the errors of ``read_compiler`` and ``build_program``.
        """
        call = read_compiler(command.words, command.folder)
        if call.compiles_only:
            call.plan.path.write_text(object_text(call.plan))
        else:
            self._program(call.plan)
        return ToolAnswer()

    def _program(self, plan: ProgramPlan) -> None:
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
        name = str(len(self.programs) + 1)
        self.programs[name] = (built.library, plan.path)
        self._room.put_program(plan.path, name)
