"""Finds a project's own tests: programs that call its operators through aclnn, and the scripts around them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.cpp.includes import includes
from gn_tutorial.cpp.launches import has_main
from gn_tutorial.cpp.queries import calls
from gn_tutorial.errors import ArgumentError

#: Folders without tests of an operator: builds, plug-ins, and unit tests of host functions, which need a framework.
_SKIPPED = frozenset(
    ".git build build_out out node_modules __pycache__ third_party framework makeself ut .venv".split()
)
_SOURCES = (".cpp", ".cc", ".cxx")
_AFTER_SOURCES = frozenset({"src", "inc", "include", "source"})
#: How the functions begin that run an operator by its name, or a model.
_MODELS = ("aclopExecute", "aclopSetModelDir", "aclmdlLoad", "aclopCompileAndExecute")
_ACLNN_HEADER = re.compile(r"(?:\w+/)*(aclnn_\w+)\.h")
_GENERATES = re.compile(r"gen.*data|data.*gen|gen_golden|make_data", re.IGNORECASE)
_VERIFIES = re.compile(r"verif|compare|check_result|check_output", re.IGNORECASE)
_NO_HEADERS = frozenset({"aclnn_base"})
_LARGEST = 1 << 20


@dataclass(frozen=True)
class OwnTest:
    """One test. folder: the folder of run.sh; without a run.sh, the folder that ``_test_folder`` chooses.

    headers: names of the ``aclnn_<op>`` headers that the test's files include. programs: files with a main. script:
    run.sh; if it is None, ``usual_steps`` replaces it. cmake: CMakeLists.txt. generates, verifies: the Python scripts
    that make the data and compare the outputs. What a test does not have is None.
    """

    folder: Path
    headers: tuple[str, ...]
    programs: tuple[Path, ...]
    script: Path | None
    cmake: Path | None
    generates: Path | None
    verifies: Path | None

    def usual_steps(self) -> str:
        """Return the text of a run.sh for this test, which makes the data, builds, runs and verifies."""
        lines = ["set -e"]
        back = ""
        if self.cmake is not None:
            lines.append("mkdir -p build && cd build")
            back = "../"
        if self.generates is not None:
            lines.append(f"python3 '{back}{self.generates.relative_to(self.folder)}'")
        if self.cmake is not None:
            inner = self.cmake.parent.relative_to(self.folder)
            lines += [f"cmake '{back}{inner}'", "make", 'for program in $(gnt-programs); do "$program"; done']
        else:
            for program in self.programs:
                name = program.relative_to(self.folder)
                folders = dict.fromkeys((name.parent, "."))
                others = [one.relative_to(self.folder) for one in _beside(program)]
                words = " ".join(f"'{one}'" for one in (name, *others))
                lines.append(f"g++ {' '.join(f'-I {one}' for one in folders)} {words} -o ./{name.stem}")
                lines.append(f"./{name.stem}")
        if self.verifies is not None:
            text = self.verifies.read_bytes().decode("utf-8", "replace")
            words = " $(gnt-outputs)" if "argv" in text else ""
            lines.append(f"python3 '{back}{self.verifies.relative_to(self.folder)}'{words}")
        return "\n".join([*lines, ""])


def find_tests(root: Path) -> list[OwnTest]:
    """Return every test in or below ``root``, sorted by path.

    Raises ArgumentError if there is no such folder, or if a test includes the header of an operator of CANN's own
    library.
    """
    root = Path(root).expanduser().resolve()
    if not root.is_dir():
        raise ArgumentError(f"there is no folder {root}", hint="the folder of the test, with its main.cpp and run.sh")
    folders: dict[Path, list[Path]] = {}
    calling = set()  # folders, not files, because the main and the aclnn call are often in different files
    for path, text in _sources(root):
        if path.suffix in _SOURCES and has_main(text, path):
            folders.setdefault(_test_folder(path, root), []).append(path)
        if _aclnn_headers(text):
            calling.add(_test_folder(path, root))
    return [_test(folder, programs) for folder, programs in folders.items() if folder in calling]


def choose_test(root: Path, operators: Sequence[str], given: Path | None) -> OwnTest:
    """Return the test to run. operators: names of the project's operators in snake_case.

    given: the folder to search instead of ``root``, inside the project or not. Raises ArgumentError if there is no
    test (programs that load models are no tests); if there are several, and not exactly one of them includes a header
    of ``operators``; if the test calls an operator that the project lacks; and as ``find_tests`` does.
    """
    root = root if given is None else Path(given).expanduser().resolve()
    found = find_tests(root)
    if not found:
        _refuse_models(root)
        raise ArgumentError(
            f"no test in {root}: no file with a main includes aclnn_<operator>.h",
            hint="name its folder if it lies elsewhere: test_folder; a test calls aclnnX, as AclNNInvocation does",
        )
    own = {f"aclnn_{name}" for name in operators}
    fitting = [one for one in found if set(one.headers) & own] or found
    if len(fitting) > 1:
        listed = ", ".join(str(one.folder.relative_to(root)) for one in fitting)
        raise ArgumentError(f"{root} has {len(fitting)} tests: {listed}", hint="choose one: test_folder")
    test = fitting[0]
    missing = [one for one in test.headers if one not in own and not re.fullmatch(r".*_v\d+", one)]
    if missing:
        listed = ", ".join(one.removeprefix("aclnn_") for one in missing)
        raise ArgumentError(
            f"the test calls {listed}, which the project does not have",
            where=", ".join(str(one) for one in test.programs),
            hint=f"the project has {', '.join(sorted(operators)) or 'none'}; name the project whose operator it calls",
        )
    return test


def _refuse_models(root: Path) -> None:
    for path, text in _sources(root):
        if found := next((one.name for one in calls(text) if one.name.startswith(_MODELS)), ""):
            raise ArgumentError(
                f"the test calls {found}: it runs an operator by its name or a model, which needs CANN",
                where=str(path),
                hint="a test that calls aclnnX runs here: AclNNInvocation, aclnn_invocation",
            )


def _sources(root: Path) -> Iterator[tuple[Path, str]]:
    for folder, names, files in os.walk(root):
        names[:] = sorted(one for one in names if one not in _SKIPPED)
        for name in sorted(files):
            path = Path(folder, name)
            if path.suffix in (*_SOURCES, ".h", ".hpp") and path.is_file() and path.stat().st_size <= _LARGEST:
                yield path, path.read_bytes().decode("utf-8", "replace")


def _test_folder(program: Path, root: Path) -> Path:
    """Return the nearest folder with a run.sh, from the program's folder up to ``root``.

    If there is none, return the program's folder. If this folder is called ``src``, ``inc`` and so on, return the
    folder above it, unless that lies outside ``root``.
    """
    for folder in program.parents:
        if (folder / "run.sh").is_file():
            return folder
        if folder == root:
            break
    above = program.parent.parent
    return above if program.parent.name in _AFTER_SOURCES and above.is_relative_to(root) else program.parent


def _test(folder: Path, programs: list[Path]) -> OwnTest:
    texts = [text for _, text in _sources(folder) if "aclnn" in text]
    headers: dict[str, None] = {}
    for text in texts:
        included = _aclnn_headers(text)
        if found := next((one for one in included if one.startswith("aclnnop/")), None):
            raise ArgumentError(
                f"the test includes {found}: an operator of CANN's own library, which is not here",
                where=str(folder),
                hint="only the operators of the project can be called",
            )
        headers |= dict.fromkeys(included.values())
    scripts = sorted(one for one in folder.rglob("*.py") if not _SKIPPED & set(one.relative_to(folder).parts))
    script = folder / "run.sh"
    listings = [folder / "CMakeLists.txt", *(one.parent / "CMakeLists.txt" for one in programs)]
    return OwnTest(
        folder=folder,
        headers=tuple(headers),
        programs=tuple(programs),
        script=script if script.is_file() else None,
        cmake=next((one for one in listings if one.is_file()), None),
        generates=next((one for one in scripts if _GENERATES.search(one.stem)), None),
        verifies=next((one for one in scripts if _VERIFIES.search(one.stem)), None),
    )


def _aclnn_headers(text: str) -> dict[str, str]:
    """Return name -> ``aclnn_<op>`` of each header of an operator that a text includes."""
    found = {one.name: _ACLNN_HEADER.fullmatch(one.name) for one in includes(text)}
    return {name: of[1] for name, of in found.items() if of and of[1] not in _NO_HEADERS}


def _beside(program: Path) -> list[Path]:
    """Return the other source files of a program: those in its folder that have no main."""
    found = sorted(one for one in program.parent.iterdir() if one.suffix in _SOURCES and one != program)
    return [one for one in found if not has_main(one.read_bytes().decode("utf-8", "replace"), one)]
