"""Finds the programs that a test's build makes, in CMakeLists.txt or a compiler's command line. Runs nothing.

It reads the part of CMake's language that operator tests use: ``set`` and variables, ``add_executable``, source lists,
include folders, definitions, the folder of programs, subfolders. It ignores conditions: the commands of all branches
apply, in order.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gn_tutorial.errors import ArgumentError

_SOURCES = (".cpp", ".cc", ".cxx", ".c", ".C")
_COMMAND = re.compile(r"^[ \t]*(\w+)\s*\(((?:[^()\"]|\"(?:\\.|[^\"\\])*\"|\([^()]*\))*)\)", re.MULTILINE)
_WORD = re.compile(r'"((?:\\.|[^"\\])*)"|((?:[^\s"]|"[^"]*")+)')
_SCOPES = frozenset({"PRIVATE", "PUBLIC", "INTERFACE", "SYSTEM", "BEFORE", "AFTER", "WIN32", "EXCLUDE_FROM_ALL"})
_MOST_FOLDERS = 32


@dataclass(frozen=True)
class ProgramPlan:
    """One program: its path, its sources, folders for includes, and definitions (``NAME`` or ``NAME=VALUE``)."""

    path: Path
    sources: tuple[Path, ...]
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()


@dataclass
class _Cmake:
    environment: Mapping[str, str]
    binary: Path
    variables: dict[str, str] = field(default_factory=dict)
    programs: dict[str, list[Path]] = field(default_factory=dict)
    folders: dict[str, list[Path]] = field(default_factory=dict)
    defines: dict[str, list[str]] = field(default_factory=dict)
    outputs: dict[str, Path] = field(default_factory=dict)
    shared: list[Path] = field(default_factory=list)
    shared_defines: list[str] = field(default_factory=list)
    read: int = 0

    def file(self, source: Path, binary: Path) -> None:
        """Read the CMakeLists.txt in ``source``, whose build folder is ``binary``."""
        self.read += 1
        if self.read > _MOST_FOLDERS:
            raise ArgumentError("add_subdirectory leads into more than 32 folders", where=str(source))
        listing = source / "CMakeLists.txt"
        try:
            text = listing.read_bytes().decode("utf-8", "replace")
        except OSError as error:
            raise ArgumentError(f"cmake: there is no CMakeLists.txt in {source}", where=str(listing)) from error
        places = {"CMAKE_CURRENT_SOURCE_DIR": source, "CMAKE_CURRENT_LIST_DIR": source, "PROJECT_SOURCE_DIR": source}
        places |= {"CMAKE_CURRENT_BINARY_DIR": binary, "PROJECT_BINARY_DIR": binary, "CMAKE_BINARY_DIR": self.binary}
        self.variables |= {name: str(path) for name, path in places.items()}
        self.variables.setdefault("CMAKE_SOURCE_DIR", str(source))
        for name, words in _COMMAND.findall(re.sub(r"#[^\n]*", "", text)):
            self.command(name.lower(), self.words(words), source, binary)

    def words(self, text: str) -> list[str]:
        found: list[str] = []
        for quoted, plain in _WORD.findall(text):
            value = self.expand(quoted or plain)
            # A CMake list is text with semicolons between its items. In quotes it stays one word.
            found += [value] if quoted else [one for one in value.split(";") if one]
        return found

    def expand(self, text: str) -> str:
        for _ in range(8):
            text = re.sub(r"\$ENV\{(\w+)\}", lambda one: self.environment.get(one[1], ""), text)
            after = re.sub(r"\$\{(\w+)\}", lambda one: self.variables.get(one[1], ""), text)
            if after == text:
                break
            text = after
        return text

    def command(self, name: str, words: list[str], source: Path, binary: Path) -> None:
        first, rest = (words[0], words[1:]) if words else ("", [])
        plain = [one for one in rest if one not in _SCOPES]
        if name == "set" and words:
            values = rest[: rest.index("CACHE")] if "CACHE" in rest else rest
            self.variables[first] = ";".join(one for one in values if one != "PARENT_SCOPE")
        elif name == "project" and words:
            self.variables["PROJECT_NAME"] = first
        elif name == "aux_source_directory" and plain:
            self.variables[plain[0]] = ";".join(str(one) for one in _sources_of(source / first))
        elif name == "file" and first in ("GLOB", "GLOB_RECURSE") and rest:
            patterns = [one for one in rest[1:] if one != "CONFIGURE_DEPENDS"]
            self.variables[rest[0]] = ";".join(one for pattern in patterns for one in _globbed(source, pattern))
        elif name == "list" and first == "APPEND" and rest:
            self.variables[rest[0]] = ";".join(filter(None, [self.variables.get(rest[0], ""), *rest[1:]]))
        elif name == "include_directories":
            self.shared += [source / one for one in words if one not in _SCOPES]
        elif name in ("add_definitions", "add_compile_definitions", "add_compile_options"):
            self.shared_defines += _defines(words, bare=name == "add_compile_definitions")
        elif name == "add_executable" and "IMPORTED" not in words and "ALIAS" not in words:
            self.programs[first] = [source / one for one in plain if not one.startswith("$<")]
            folder = self.variables.get("CMAKE_RUNTIME_OUTPUT_DIRECTORY", "")
            self.outputs[first] = binary / folder
        elif name == "target_sources" and first in self.programs:
            self.programs[first] += [source / one for one in plain]
        elif name == "target_include_directories":
            self.folders.setdefault(first, []).extend(source / one for one in plain)
        elif name in ("target_compile_definitions", "target_compile_options"):
            self.defines.setdefault(first, []).extend(_defines(plain, bare=name == "target_compile_definitions"))
        elif name == "set_target_properties" and "RUNTIME_OUTPUT_DIRECTORY" in words[:-1]:
            self.outputs[first] = binary / words[words.index("RUNTIME_OUTPUT_DIRECTORY") + 1]
        elif name == "add_subdirectory" and words:
            self.file((source / first).resolve(), binary / (plain[0] if plain else Path(first).name))


def read_cmake(
    source: Path, binary: Path, environment: Mapping[str, str], variables: Mapping[str, str]
) -> list[ProgramPlan]:
    """Return the programs that the CMakeLists.txt in ``source`` makes. variables: those of cmake's options -D.

    Raises ArgumentError if a CMakeLists.txt is missing, or if there are more than 32 folders.
    """
    state = _Cmake(environment, binary, dict(variables))
    state.file(source, binary)
    return [
        ProgramPlan(
            path=_normal(state.outputs[name] / name),
            # CMake builds a source once, however often a list names it.
            sources=tuple(dict.fromkeys(_normal(one) for one in files if one.suffix in _SOURCES)),
            include_dirs=tuple(dict.fromkeys(_normal(one) for one in (*state.folders.get(name, ()), *state.shared))),
            defines=tuple(dict.fromkeys((*state.shared_defines, *state.defines.get(name, ())))),
        )
        for name, files in state.programs.items()
    ]


@dataclass(frozen=True)
class CompilerCall:
    """One command line of a compiler. plan: what it makes. compiles_only: whether that is an object file (-c)."""

    plan: ProgramPlan
    compiles_only: bool


def read_compiler(words: Sequence[str], folder: Path) -> CompilerCall:
    """Return the call that a command line of g++ or a like compiler, run in ``folder``, describes.

    Raises ArgumentError for a command line without a source, a source that is missing, or an object file that cannot be
    read.
    """
    output, compiles = "", "-c" in words
    files: list[Path] = []
    folders: list[Path] = []
    defines: list[str] = []
    taking = {"-I": folders, "-isystem": folders, "-iquote": folders}
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        option = next((one for one in ("-isystem", "-iquote", "-I", "-D", "-o") if word.startswith(one)), "")
        if option:
            value = word[len(option) :]
            if not value and at < len(words):
                value, at = words[at], at + 1
            if option == "-o":
                output = value
            elif option == "-D":
                defines.append(value)
            else:
                taking[option].append(folder / value)
        elif word in ("-L", "-l", "-x", "-include", "-Xlinker", "-MF", "-MT"):
            at += 1
        elif not word.startswith("-"):
            files.append(folder / word)
    for file in [one for one in files if one.suffix in (".o", ".obj")]:
        files.remove(file)
        stored = json.loads(_object_text(file))
        files += [Path(one) for one in stored["sources"]]
        folders += [Path(one) for one in stored["include_dirs"]]
        defines += stored["defines"]
    sources = [one for one in files if one.suffix in _SOURCES]
    if not sources:
        raise ArgumentError("the compiler is given no source", where=" ".join(words), hint="g++ main.cpp -o program")
    for source in sources:
        if not source.is_file():
            raise ArgumentError(f"there is no file {source.name}", where=str(source))
    made = folder / (output or (f"{sources[0].stem}.o" if compiles else "a.out"))
    plan = ProgramPlan(
        _normal(made),
        tuple(dict.fromkeys(_normal(one) for one in sources)),
        tuple(dict.fromkeys(_normal(one) for one in folders)),
        tuple(dict.fromkeys(defines)),
    )
    return CompilerCall(plan, compiles)


def object_text(plan: ProgramPlan) -> str:
    """Return the text that stands for an object file. The sources in it are compiled when a program is linked."""
    return json.dumps(
        {
            "sources": [str(one) for one in plan.sources],
            "include_dirs": [str(one) for one in plan.include_dirs],
            "defines": list(plan.defines),
        }
    )


def _object_text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"{path.name} is no object file of this test", where=str(path)) from error


def _sources_of(folder: Path) -> list[Path]:
    return sorted(one for one in folder.glob("*") if one.suffix in _SOURCES) if folder.is_dir() else []


def _globbed(source: Path, pattern: str) -> list[str]:
    return sorted(glob.glob(str(source / pattern), recursive=True))


def _defines(words: Sequence[str], *, bare: bool) -> list[str]:
    """Return the definitions among options: ``-DNAME=1``, and with ``bare`` also ``NAME=1``."""
    found = [one.removeprefix("-D") for one in words if one.startswith("-D") or bare]
    return [one for one in found if re.match(r"^[A-Za-z_]\w*(=|$)", one)]


def _normal(path: Path) -> Path:
    return Path(os.path.normpath(path))
