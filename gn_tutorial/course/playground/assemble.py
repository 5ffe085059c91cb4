"""Assembles the playground page's folder: all files that the page fetches, made from the course (docs/playground.md).

Any file server can serve the folder. Large files are stored as ``name.gz``, which src/packed.mjs unpacks in the page.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import files, version
from pathlib import Path
from typing import Any

from gn_tutorial.compiler.cache import default_cache
from gn_tutorial.course.playground.files import PLAYGROUND, course_files, objects
from gn_tutorial.course.playground.finding_pages import finding_pages
from gn_tutorial.course.playground.starts import kernel_starts, program_starts, puzzle_starts
from gn_tutorial.errors import GntError
from gn_tutorial.operators.registry import kernels_root
from gn_tutorial.timing.machine import DEFAULT_MACHINE
from gn_tutorial.toml_file import PACKAGE

ROOT = PLAYGROUND.parents[1]
_MODULES = PLAYGROUND / "node_modules"
_SCRIPTS = ("page", "compile_worker", "kernel_worker", "python_worker", "offline")
#: Modules that the workers fetch unchanged; esbuild does not bundle them.
_EXTERNAL = ("./clang/bundle.js", "./pyodide/pyodide.mjs")
_CLANG = ("bundle.js", "llvm.core2.wasm", "llvm.core3.wasm", "llvm.core4.wasm")
_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide-lock.json", "python_stdlib.zip")
_PYODIDE_PACKED = ("pyodide.asm.wasm",)
#: The compiler's files whose names contain one of these parts are left out, because no kernel includes or links them:
#: files for other processors and languages, for threads, sanitizers and profiling, and the C++ library's frozen C++03
#: edition.
_LEFT_OUT = (
    "__cxx03/ share/ intrin.h hlsl opencl cuda hip sanitizer/ altivec vecintrin hvx_ hexagon_ arm_ riscv openmp "
    "fuzzer/ xray/ profile/ .so profile.a wasm32-wasip1-threads ppc_wrappers llvm_libc_wrappers"
).split()
#: Packages whose licences the page must carry, besides the course's own.
_NOTICED = ("@yowasp/clang", "pyodide", "@codemirror/view", "@lezer/highlight")


def assemble(out: Path) -> dict[str, int]:
    """Write the page's folder ``out``, which must be empty or absent.

    Returns the bytes that the page fetches, under the keys "before Run" and "first Run". Raises GntError if ``out`` has
    files, if the packages of web/playground/package.json are missing, or if a step fails.
    """
    out = out.resolve()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise GntError("the folder of the page is not empty", where=str(out), hint="name a new one, or empty it")
    files = course_files(kernels_root())
    made = objects(files, default_cache())
    out.mkdir(parents=True, exist_ok=True)
    for name in ("index.html", "page.css"):
        shutil.copyfile(PLAYGROUND / "src" / name, out / name)
    (out / "page.css").write_text(_style(), encoding="utf-8")
    _third_party(out)
    for name, path in made.items():
        _pack(out / "objects" / name, path.read_bytes())
    _pack(out / "course.json", _json(files))
    _pack(out / "python.json", _json(python_files()))
    _pages(out)
    (out / "notices.txt").write_text(_notices(), encoding="utf-8")
    starts = _starts(out)
    download = sum(path.stat().st_size for path in _first_run(out))
    index = {"starts": starts, "chips": _chips(), "chip": DEFAULT_MACHINE, "download": download}
    _pack(out / "starts.json", _json(index))
    version = hashlib.sha256(
        b"".join(path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file())
    ).hexdigest()[:16]
    _bundle(out, version)
    before = [out / name for name in ("index.html", "page.css", "page.js", "starts.json.gz")]
    return {
        "before Run": sum(path.stat().st_size for path in before),
        "first Run": download + (out / "kernel_worker.js").stat().st_size,
    }


def python_files() -> dict[str, str]:
    """Return path -> text of the modules that ``in_page`` needs, and of the package's data files that they read.

    The modules are found by importing ``in_page``, and the readers of C++ that it may import later, in a Python process
    without NumPy and tree-sitter, and without the package's ``__init__``, as the page does. Raises GntError if the
    import of ``in_page`` fails.
    """
    ask = f"""
import contextlib, importlib, json, pkgutil, sys, types
package = types.ModuleType("gn_tutorial")
package.__path__ = [{str(PACKAGE)!r}]
sys.modules["gn_tutorial"] = package
sys.modules["numpy"] = sys.modules["tree_sitter"] = None
import gn_tutorial.course.playground.in_page
import gn_tutorial.cpp as readers
for one in pkgutil.walk_packages(readers.__path__, "gn_tutorial.cpp."):
    with contextlib.suppress(ImportError):  # the page does not need the readers that need NumPy
        importlib.import_module(one.name)
print(json.dumps([m.__file__ for n, m in sys.modules.items() if n.startswith("gn_tutorial.")]))
"""
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    if done.returncode:
        raise GntError("the page's modules need something that the page does not have", detail=done.stderr[-2000:])
    paths = [Path(one) for one in json.loads(done.stdout)]
    paths += [
        path
        for room in ("diagnostics", "machines")
        for path in (PACKAGE / room).iterdir()
        if path.suffix in (".toml", ".csv")
    ]
    return {path.relative_to(PACKAGE.parent).as_posix(): path.read_text(encoding="utf-8") for path in sorted(paths)}


def _third_party(out: Path) -> None:
    clang, pyodide = _MODULES / "@yowasp" / "clang" / "gen", _MODULES / "pyodide"
    for source, names, into in ((clang, _CLANG, "clang"), (pyodide, _PYODIDE, "pyodide")):
        (out / into).mkdir()
        for name in names:
            shutil.copyfile(source / name, out / into / name)
    _pack(out / "clang" / "llvm.core.wasm", (clang / "llvm.core.wasm").read_bytes())
    _pack(out / "clang" / "llvm-resources.tar", slim(clang / "llvm-resources.tar"))
    for name in _PYODIDE_PACKED:
        _pack(out / "pyodide" / name, (pyodide / name).read_bytes())


def slim(path: Path) -> bytes:
    """Return the compiler's archive of headers and libraries without the files that kernels cannot use."""
    data, kept = path.read_bytes(), []
    with tarfile.open(path) as given:
        for one in given:
            if not any(part in one.name for part in _LEFT_OUT):
                # Keep the original bytes, because the compiler's tar reader accepts only one form of a folder's name.
                kept.append(data[one.offset : one.offset_data + -(-one.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE])
    return b"".join([*kept, bytes(2 * tarfile.BLOCKSIZE)])


def _starts(out: Path) -> list[dict[str, str]]:
    """Write a file for each start (``starts.py``); return the list that the page's menu shows."""
    listed = []
    for start in (*kernel_starts(ROOT), *puzzle_starts(), *program_starts(ROOT)):
        file = f"{start['id'].replace('/', '-')}.json"
        _pack(out / "starts" / file, _json(start))
        listed.append({"id": start["id"], "title": start["title"], "group": start["group"], "file": file})
    return listed


def _chips() -> list[str]:
    return sorted(path.stem for path in (PACKAGE / "machines").glob("9*.toml"))


def _style() -> str:
    own = (PLAYGROUND / "src" / "page.css").read_text(encoding="utf-8")
    return own + (PACKAGE / "profiler" / "timeline.css").read_text(encoding="utf-8")


def _pages(out: Path) -> None:
    (out / "diagnostics").mkdir()
    for name, text in finding_pages(ROOT).items():
        (out / "diagnostics" / name).write_text(text, encoding="utf-8")


def _notices() -> str:
    parts = [("gn_tutorial (this page)", (ROOT / "LICENSE").read_text(encoding="utf-8"))]
    for name in _NOTICED:
        about = json.loads((_MODULES / name / "package.json").read_text(encoding="utf-8"))
        texts = [
            path.read_text(encoding="utf-8") for path in sorted((_MODULES / name).glob("LICEN[SC]E*")) if path.is_file()
        ]
        where = about.get("homepage") or about.get("repository", {}).get("url", "")
        parts.append((f"{name} {about['version']}, {about.get('license', '')}, {where}", "\n".join(texts)))
    parts.append(
        (
            "LLVM, libc++, compiler-rt (inside @yowasp/clang)",
            "Apache-2.0 WITH LLVM-exception, https://llvm.org/LICENSE.txt",
        )
    )
    parts.append(
        (
            "wasi-libc (inside @yowasp/clang)",
            "Apache-2.0 WITH LLVM-exception, Apache-2.0, MIT; https://github.com/WebAssembly/wasi-libc",
        )
    )
    for name in ("tree-sitter", "tree-sitter-cuda"):
        texts = [file.read_text(encoding="utf-8") for file in files(name) or () if file.name == "LICENSE"]
        parts.append((f"{name} {version(name)}, MIT, https://pypi.org/project/{name}", "\n".join(texts)))
    parts.append(("ICU's headers (inside tree-sitter)", "Unicode-3.0, https://www.unicode.org/license.txt"))
    parts.append(("CPython (inside pyodide)", "PSF-2.0, https://docs.python.org/3/license.html"))
    return "\n\n".join(f"=== {title}\n\n{text}" for title, text in parts) + "\n"


def _bundle(out: Path, version: str) -> None:
    command = [str(_MODULES / ".bin" / "esbuild"), *(f"src/{name}.mjs" for name in _SCRIPTS)]
    command += ["--bundle", "--format=esm", "--minify", "--target=es2022", "--log-level=warning", f"--outdir={out}"]
    command += [f"--external:{name}" for name in _EXTERNAL] + [f'--define:VERSION="{version}"']
    done = subprocess.run(command, cwd=PLAYGROUND, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GntError("esbuild failed", where=str(PLAYGROUND), detail=done.stderr[-2000:])


def _first_run(out: Path) -> list[Path]:
    """Return the files that the first Run fetches, except kernel_worker.js, which is made later."""
    folders = [path for name in ("clang", "pyodide", "objects") for path in sorted((out / name).iterdir())]
    return [*folders, out / "course.json.gz", out / "python.json.gz"]


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _pack(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(data, 9, mtime=0))
