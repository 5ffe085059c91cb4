"""Builds the host API as a C library for the twin, declares its functions to ctypes, and raises its errors.

``kernels/host_api`` implements the API in C++ with a C interface (docs/host-api.md). A build for another device has the
same interface, and ``declared`` declares it from the same headers; only the functions of ``gn_host_twin.h`` belong to
the twin.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import shlex
import shutil
from collections.abc import Callable, Iterable, Sequence
from ctypes import c_int64, c_uint64, c_void_p
from enum import IntEnum
from pathlib import Path
from typing import Any

from gn_tutorial.compiler.build import build_host_library, build_kernel
from gn_tutorial.compiler.build_request import TWIN, TWIN_INCLUDE
from gn_tutorial.compiler.process import CompileLimits
from gn_tutorial.diagnostics.findings import kernel_fault, parse_report
from gn_tutorial.errors import ArgumentError, KernelError, RegistryError
from gn_tutorial.host.c_headers import Function, read_header
from gn_tutorial.operators.registry import find_kernel, kernels_root, load_registry
from gn_tutorial.operators.spec import OpSpec

#: The kernel that packs and unpacks tensors that are not contiguous, for all operators.
_COPY = "strided_copy/rows"
#: The file names, in an exported folder, of the host library, which looks for kernels beside itself as ``<entry>.so``,
#: and of the example.
LIBRARY, EXAMPLE = "libgn_host.so", "example.c"


class Code(IntEnum):
    """Return codes of gn_host_api.h; the numbers are those of aclnn."""

    SUCCESS = 0
    PARAM_NULLPTR = 161001
    PARAM_INVALID = 161002
    RUNTIME = 361001
    INNER = 561000
    INNER_TILING = 561002
    INNER_FIND_KERNEL = 561003


class Refused(ArgumentError):
    """An argument that the host API refuses; ``code`` says whether it is null or invalid."""

    def __init__(self, code: Code, what: str, **rest: str) -> None:
        super().__init__(what, **rest)
        self.code = code


@functools.cache
def functions() -> dict[str, Function]:
    """Return every function that ``kernels/host_api/gn_*.h`` declares, by its name. Raises RegistryError."""
    return {one.name: one for path in sorted((kernels_root() / "host_api").glob("gn_*.h")) for one in read_header(path)}


@functools.cache
def operators() -> dict[str, str]:
    """Return operator of the host API -> the registered kernel that it launches for contiguous tensors.

    An operator's name is that of its second call; the first is ``<name>GetWorkspaceSize``. The operators are those that
    the headers declare. Raises RegistryError for an operator whose comment names no kernel.
    """
    return {name: kernels[0] for name, kernels in _kernels_of_operators().items()}


@functools.cache
def _kernels_of_operators() -> dict[str, tuple[str, ...]]:
    first = "GetWorkspaceSize"
    found = {one.name.removesuffix(first): one for one in functions().values() if one.name.endswith(first)}
    for one in found.values():
        if not one.kernels:
            hint = "write 'Kernel: <operator>/<kernel>.' at the end of the comment in front of it"
            raise RegistryError(
                "no comment says which kernel it launches", where=f"kernels/host_api: {one.name}", hint=hint
            )
    return {name: one.kernels for name, one in found.items()}


def kernels(names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the registered kernels that these operators launch (None: all operators), and the kernel for copies."""
    known = _kernels_of_operators()
    return (*(kernel for name in (known if names is None else names) for kernel in known[name]), _COPY)


@functools.cache
def library() -> ctypes.CDLL:
    """Return the C interface, built for the twin and declared. Raises CompileError, CompilerMissing, CacheError."""
    return declared(build_library())


def build_library() -> Path:
    """Return the C interface as a library in the cache. Raises CompileError, CompilerMissing, CacheError."""
    limits = CompileLimits(seconds=600)  # it takes 10 s on a quiet machine; the headers are large
    return build_host_library(source_text(), include_dirs=include_folders(), limits=limits).library


def declared(path: Path, more: Iterable[Path] = ()) -> ctypes.CDLL:
    """Return a build of the host API, for any device, loaded and with the types of its functions declared.

    more: headers that only this build has. The functions of ``gn_host_twin.h`` are declared if the library has them.
    Raises AttributeError for a library that lacks a function of ``kernels/host_api/gn_*.h`` or of ``more``.
    """
    loaded = ctypes.CDLL(str(path))
    twin = [one for one in read_header(TWIN / "host" / "gn_host_twin.h") if hasattr(loaded, one.name)]
    others = [one for header in more for one in read_header(header)]
    for one in (*functions().values(), *twin, *others):
        function = getattr(loaded, one.name)
        function.argtypes, function.restype = one.arguments, one.returns
    return loaded


def include_folders() -> tuple[Path, ...]:
    """Return the folders with the headers of the host API, including the twin's side."""
    root = kernels_root()
    operators = sorted({find_kernel(name, _registered())[0].folder for name in kernels()})
    return (root / "host_api", root / "common", *operators, TWIN / "host", TWIN_INCLUDE)


def source_text() -> str:
    """Return the C++ text of the whole library: the shared part, and the twin as the device."""
    files = [*sorted((kernels_root() / "host_api").glob("*.cpp")), *sorted((TWIN / "host").glob("*.cpp"))]
    return "".join(f'#include "{file.resolve().as_posix()}"\n' for file in files)


def build_kernels(*, observed: bool, operators: Iterable[str] | None = None) -> dict[str, Path]:
    """Build every kernel that these operators launch (None: all operators); return entry -> library.

    An observed kernel is optimised as for a launch from Python, because its findings matter and not its speed. Raises
    as ``build_kernel`` does.
    """
    build = functools.partial(build_kernel, observed=observed, optimise="soonest" if observed else True)
    specs = [find_kernel(name, _registered())[1] for name in kernels(operators)]
    return {spec.entry: build(spec.file).library for spec in specs}


@functools.cache
def _registered() -> dict[str, OpSpec]:
    """Return the registry. Each call without a stream needs it, and reading it takes longer than a small launch."""
    return load_registry()


def check(status: int, loaded: ctypes.CDLL | None = None) -> None:
    """Raise the error of this thread's last call, which returned ``status``; do nothing if the call succeeded.

    loaded: the build that was called; None: the twin's. The error is Refused for an argument (161001, 161002),
    KernelFault for a launch that the twin stopped, and KernelError for the rest.
    """
    if status == Code.SUCCESS:
        return
    message = ((loaded or library()).GnGetRecentErrMsg() or b"").decode("utf-8", "replace")
    parts = {"where": "", "hint": ""}
    lines = []
    for line in message.splitlines():
        name, _, text = line.strip().partition(":")
        if line.startswith("  ") and name in parts:
            parts[name] = text.strip()
        else:
            lines.append(line)
    if status in (Code.PARAM_NULLPTR, Code.PARAM_INVALID):
        raise Refused(Code(status), "\n".join(lines), **parts)
    if found := parse_report("\n".join(lines).encode()):
        raise kernel_fault(found)
    raise KernelError("\n".join(lines) or f"the host API returned {status}", **parts)


def whole_number(name: str, value: Any) -> int:
    """Return ``value`` as an int for C. Raises ArgumentError, which names the argument ``name``, for other values.

    The number must fit in 64 bits, because ctypes would silently truncate it.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"'{name}' must be a whole number, not {value!r}") from None
    if not -(2**63) <= number < 2**63:
        raise ArgumentError(f"'{name}' = {number} does not fit in 64 bits")
    return number


def whole_numbers(numbers: Iterable[int]) -> ctypes.Array[c_int64]:
    """Return lengths or strides as a C array of int64. Raises ArgumentError for values that are no 64-bit integers."""
    listed = [whole_number("length or stride", one) for one in numbers]
    return (c_int64 * len(listed))(*listed)


def describe(
    loaded: ctypes.CDLL, shape: Sequence[int], strides: Sequence[int], dtype: int, address: int | None
) -> c_void_p:
    """Create a tensor whose first element is at ``address``, and return its handle; ``GnDestroyTensor`` destroys it.

    shape: the length of each axis. strides: of each axis, in elements. dtype: its number in CANN. Raises
    Refused; ArgumentError for a length or stride that is no 64-bit integer.
    """
    # The C side refuses a negative stride.
    reach = sum((count - 1) * max(step, 0) for count, step in zip(shape, strides, strict=True))
    storage = 0 if 0 in shape else reach + 1
    made = c_void_p()
    check(
        loaded.GnCreateTensor(
            whole_numbers(shape), len(shape), dtype, whole_numbers(strides), 0, whole_numbers([storage]), 1, address,
            ctypes.byref(made),
        ),
        loaded,
    )  # fmt: skip
    return made


def repeatable(
    loaded: ctypes.CDLL, name: str, arguments: Sequence[Any], tensors: Sequence[c_void_p | None]
) -> tuple[c_void_p, int]:
    """Make the first call of operator ``name``; return an executor for ``GnRunExecutor``, and its workspace in bytes.

    arguments: as in ``call``. tensors: the tensors among the arguments, in the order in which ``GnRunExecutor`` gets
    their addresses; None for an absent tensor. The caller destroys the executor with ``GnDestroyExecutor``. Raises
    Refused, KernelError.
    """
    size, executor = c_uint64(), c_void_p()
    check(getattr(loaded, f"{name}GetWorkspaceSize")(*arguments, ctypes.byref(size), ctypes.byref(executor)), loaded)
    try:
        check(loaded.GnSetExecutorRepeatable(executor, (c_void_p * len(tensors))(*tensors), len(tensors)), loaded)
    except BaseException:
        loaded.GnDestroyExecutor(executor)
        raise
    return executor, size.value


def call(
    loaded: ctypes.CDLL,
    name: str,
    arguments: Sequence[Any],
    stream: c_void_p,
    allocate: Callable[[int], tuple[Any, int]],
) -> Any:
    """Make both calls of operator ``name``; return the workspace, which must stay until the stream is synchronised.

    arguments: those of ``<name>GetWorkspaceSize`` without the last two. stream: a handle. allocate: a function that
    takes a number of bytes and returns that much memory of the device, and its address. Raises Refused, KernelError.
    """
    size, executor = c_uint64(), c_void_p()
    check(getattr(loaded, f"{name}GetWorkspaceSize")(*arguments, ctypes.byref(size), ctypes.byref(executor)), loaded)
    try:
        workspace, address = allocate(size.value)
        check(getattr(loaded, name)(address, size.value, executor, stream), loaded)
    except BaseException:
        loaded.GnDestroyExecutor(executor)
        raise
    return workspace


def export(folder: Path, *, observed: bool = False) -> list[Path]:
    """Write headers, host library, kernels and an example to ``folder``, creating it. Return the sorted files.

    observed: whether the kernels have the twin's checks. Files of the same names are replaced. Raises ArgumentError if
    the folder cannot be written, and the errors of ``build_library`` and ``build_kernels``.
    """
    api, twin = kernels_root() / "host_api", TWIN / "host"
    sources = {one.name: one for one in (*api.glob("gn_*.h"), *twin.glob("gn_*.h"), api / EXAMPLE)}
    sources[LIBRARY] = build_library()
    sources |= {f"{entry}.so": path for entry, path in build_kernels(observed=observed).items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, source in sources.items():
            # Replace the file instead of writing into it: a program that has it loaded would crash.
            made = folder / f".{name}.new"
            shutil.copyfile(source, made)
            made.replace(folder / name)
    except OSError as error:
        raise ArgumentError(
            f"the folder cannot be written: {error.strerror or error}", where=str(folder), hint="choose another one"
        ) from error
    return [folder / name for name in sorted(sources)]


def compile_command(folder: Path) -> str:
    """Return the shell command that compiles and runs the example in ``folder``.

    The program finds the libraries beside itself.
    """
    compiled = f"cc -std=c99 -Wall -Wextra {EXAMPLE} -o example -L. -lgn_host -Wl,-rpath,'$ORIGIN'"
    return f"cd {shlex.quote(str(folder))} && {compiled} && ./example"
