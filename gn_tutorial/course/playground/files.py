"""Collects the files that the page's compiler sees below COURSE: twin, kernels, stand-in headers for preprocessing."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from gn_tutorial.compiler.build_request import TWIN, TWIN_INCLUDE
from gn_tutorial.compiler.cache import Cache
from gn_tutorial.compiler.cache_store import checksum
from gn_tutorial.course.playground.compiling import COURSE
from gn_tutorial.cpp import portability_rules
from gn_tutorial.errors import GntError

#: The folder of package.json, and of the page's own sources.
PLAYGROUND = Path(__file__).resolve().parents[3] / "web" / "playground"
#: The recent Node.js that npm installs. The Node.js of Linux distributions cannot suspend a call.
NODE = PLAYGROUND / "node_modules" / "node" / "bin" / "node"
#: The files that ``makeObjects`` of src/compiler.mjs returns.
OBJECTS = ("entry.o", "watchers.o", "twin.pch")


def course_files(kernels: Path) -> dict[str, str]:
    """Return path below COURSE -> text. kernels: the folder of all kernels.

    Left out are the twin's host code, and the folders for NPU, PyTorch, projects, the host API and calibration.
    """
    found = {f"include/{name}": text for name, text in _texts(TWIN_INCLUDE) if "/op_host/" not in f"/{name}"}
    found |= {f"watchers/{name}": text for name, text in _texts(TWIN / "watchers")}
    found |= {f"page/{name}": text for name, text in _texts(PLAYGROUND / "src")}
    found |= {f"names/{name}": text for name, text in _names().items()}
    for folder in sorted(path for path in kernels.iterdir() if path.is_dir()):
        if folder.name in ("npu", "torch_cpp", "projects", "host_api", "calibration"):
            continue
        found |= {f"kernels/{folder.name}/{name}": text for name, text in _texts(folder)}
        # Kernels include `../common/x.h`, but the compiler's file system ignores `..`. So each folder gets a copy.
        if folder.name != "common":
            found |= {f"kernels/{folder.name}/common/{name}": text for name, text in _texts(kernels / "common")}
    return found


def objects(files: Mapping[str, str], cache: Cache) -> dict[str, Path]:
    """Return name -> file of the OBJECTS that all kernels of the page share, and of the parser, cached or compiled.

    The first time takes about 20 s, and a minute for the parser. files: the result of ``course_files``. Raises GntError
    if the packages of package.json are missing, if PyPI does not answer, or if a compilation fails.
    """
    made_by = [PLAYGROUND / "package-lock.json", PLAYGROUND / "src" / "compiler.mjs"]
    needed = {name: text for name, text in files.items() if not name.startswith("kernels/")}
    key = checksum(json.dumps([needed, *(path.read_text(encoding="utf-8") for path in made_by)]).encode())
    with cache.lock(key):
        found = {name: cache.get(key, f".{name}") for name in OBJECTS}
        if None in found.values():
            with cache.scratch() as folder:
                (folder / "files.json").write_text(json.dumps(needed), encoding="utf-8")
                run_node("make_objects.mjs", str(folder / "files.json"), str(folder))
                found = {name: cache.put(key, f".{name}", folder / name) for name in OBJECTS}
    return {name: path for name, path in found.items() if path is not None} | {"tree.wasm": _parser(cache)}


def _parser(cache: Cache) -> Path:
    """Return the file of tree-sitter and its CUDA grammar as WebAssembly, which src/tree.mjs loads.

    The sources come from PyPI, in the versions that are installed here: so the page's trees are this machine's trees.
    """
    pins = [f"{name}=={version(name)}" for name in ("tree-sitter", "tree-sitter-cuda")]
    made_by = [PLAYGROUND / "package-lock.json", *(PLAYGROUND / "src" / name for name in ("make_tree.mjs", "tree.c"))]
    key = checksum(json.dumps([pins, *(path.read_text(encoding="utf-8") for path in made_by)]).encode())
    with cache.lock(key):
        found = cache.get(key, ".tree.wasm")
        if found is None:
            with cache.scratch() as folder:
                (folder / "files.json").write_text(json.dumps(_parser_sources(pins, folder)), encoding="utf-8")
                run_node("make_tree.mjs", str(folder / "files.json"), str(folder / "tree.wasm"))
                found = cache.put(key, ".tree.wasm", folder / "tree.wasm")
    return found


def _parser_sources(pins: list[str], folder: Path) -> dict[str, str]:
    """Return path -> text of what make_tree.mjs compiles, from the source archives of two packages of Python."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=:all:", *pins]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GntError("the sources of tree-sitter cannot be fetched", where=" ".join(pins), detail=done.stderr[-2000:])
    found = {"tree.c": (PLAYGROUND / "src" / "tree.c").read_text(encoding="utf-8")}
    for archive in folder.glob("*.tar.gz"):
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
    for name, inside in (("core", "tree_sitter-*/tree_sitter/core/lib"), ("grammar", "tree_sitter_cuda-*/src")):
        (root,) = folder.glob(inside)
        found |= {f"{name}/{path}": text for path, text in _texts(root, "*.c", "*.h")}
    return found


def run_node(script: str, *arguments: str) -> None:
    """Run a script of src/ with Node.js. Raises GntError if the script fails, or if NODE is missing."""
    if not NODE.is_file():
        hint = "cd web/playground && npm ci"
        raise GntError("the playground's packages are not here", where=str(PLAYGROUND), hint=hint)
    done = subprocess.run(
        [str(NODE), f"src/{script}", *arguments], cwd=PLAYGROUND, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise GntError(f"{script} failed", where=str(PLAYGROUND), detail=done.stderr[-2000:])


def _texts(folder: Path, *patterns: str) -> list[tuple[str, str]]:
    paths = sorted(path for pattern in patterns or ("*.h", "*.cpp") for path in folder.rglob(pattern))
    return [(path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


def _names() -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        root = portability_rules.stand_ins(Path(folder), TWIN_INCLUDE, None)
        return {name: text.replace(str(TWIN_INCLUDE), str(COURSE / "include")) for name, text in _texts(root)}
