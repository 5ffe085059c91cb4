"""The host API of the operator (docs/host-api.md) from Python: NumPy arrays as tensors, streams, two calls an operator.

``kernels/host_api`` is the API, in C++ with a C interface. This module builds it for the twin, declares its functions
to ctypes, and turns its return codes into the package's errors. ``group_norm`` is both calls for arrays.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_uint8, c_uint32, c_uint64, c_void_p
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gn_tutorial.build import build_host_library, build_kernel
from gn_tutorial.build_job import TWIN, TWIN_INCLUDE
from gn_tutorial.compile_job import CompileLimits
from gn_tutorial.diagnostics import kernel_fault, parse_report
from gn_tutorial.errors import ArgumentError, GntError, KernelError
from gn_tutorial.op_macros import graph_number
from gn_tutorial.spec import find_kernel, kernels_root

#: Registered kernels that the host API launches: what it calls an entry, in a library of its own.
KERNELS = ("group_norm/any", "group_norm_backward/any", "strided_copy/rows")
_DIMS = POINTER(c_int64)
HostFunc = ctypes.CFUNCTYPE(None, c_void_p)


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


class GroupNormGradients(NamedTuple):
    """What ``group_norm_backward`` writes; None for what was not asked for. Valid after the stream is synchronised."""

    grad_input: np.ndarray | None
    grad_gamma: np.ndarray | None
    grad_beta: np.ndarray | None


class GroupNormArrays(NamedTuple):
    """What ``group_norm`` writes. Valid when the stream has been synchronised."""

    out: np.ndarray
    mean: np.ndarray
    rstd: np.ndarray


_TENSORS, _SIZES = (c_void_p,), (c_int64,)
#: Name -> argument types; each returns a status.
_CALLS: dict[str, Sequence[Any]] = {
    "GnCreateTensor": (_DIMS, c_uint64, c_int32, _DIMS, c_int64, _DIMS, c_uint64, c_void_p, POINTER(c_void_p)),
    "GnDestroyTensor": _TENSORS,
    "GnCreateStream": (POINTER(c_void_p),),
    "GnSynchronizeStream": _TENSORS,
    "GnDestroyStream": _TENSORS,
    "GnLaunchHostFunc": (c_void_p, HostFunc, c_void_p),
    "GnDestroyExecutor": _TENSORS,
    "GroupNormGetWorkspaceSize": (
        *_TENSORS * 3, *_SIZES * 4, c_double, *_TENSORS * 3, POINTER(c_uint64), POINTER(c_void_p),
    ),
    "GroupNorm": (c_void_p, c_uint64, c_void_p, c_void_p),
    "GroupNormBackwardGetWorkspaceSize": (
        *_TENSORS * 5, *_SIZES * 4, POINTER(c_uint8), c_uint64, *_TENSORS * 3, POINTER(c_uint64), POINTER(c_void_p),
    ),
    "GroupNormBackward": (c_void_p, c_uint64, c_void_p, c_void_p),
    "GnTwinUseKernel": (c_void_p, c_char_p, c_char_p),
}  # fmt: skip


@functools.cache
def library() -> ctypes.CDLL:
    """The C interface, built for the twin and declared. Raises CompileError, CompilerMissing, CacheError."""
    return declared(build_library())


def build_library() -> Path:
    """The C interface as a library in the cache. Raises CompileError, CompilerMissing, CacheError."""
    limits = CompileLimits(seconds=600)  # 10 s on a quiet machine: threads and containers are heavy headers
    return build_host_library(source_text(), include_dirs=include_folders(), limits=limits).library


def declared(path: Path) -> ctypes.CDLL:
    """A build of the host API, with the types of its functions."""
    loaded = ctypes.CDLL(str(path))
    for name, arguments in _CALLS.items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = arguments, c_int32
    loaded.GnGetRecentErrMsg.argtypes, loaded.GnGetRecentErrMsg.restype = (), c_char_p
    loaded.GnVectorCores.argtypes, loaded.GnVectorCores.restype = (), c_uint32
    return loaded


def include_folders() -> tuple[Path, ...]:
    """Where the sources of the host API find their headers, the twin's side among them."""
    root = kernels_root()
    operators = sorted({find_kernel(name)[0].folder for name in KERNELS})
    return (root / "host_api", *operators, TWIN / "host", TWIN_INCLUDE)


def source_text() -> str:
    """One C++ text that is the whole library: the shared part, and the twin as the device."""
    files = [*sorted((kernels_root() / "host_api").glob("*.cpp")), *sorted((TWIN / "host").glob("*.cpp"))]
    return "".join(f'#include "{file.resolve().as_posix()}"\n' for file in files)


def build_kernels(*, observed: bool) -> dict[str, Path]:
    """Entry -> the kernel library, for every kernel that the host API launches. Raises as ``build_kernel``."""
    specs = [find_kernel(name)[1] for name in KERNELS]
    return {spec.entry: build_kernel(spec.file, observed=observed).library for spec in specs}


def check(status: int) -> None:
    """Raise what the last call of this thread said, unless it succeeded.

    Refused (161001, 161002) for an argument, KernelFault for a launch that the twin stopped, KernelError for the rest.
    """
    if status == Code.SUCCESS:
        return
    message = (library().GnGetRecentErrMsg() or b"").decode("utf-8", "replace")
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


class Tensor:
    """A descriptor of an array's memory, which it keeps alive. ``handle`` goes to the C functions.

    array: any strides that are whole elements and not negative. Raises Refused, ArgumentError for a dtype without a
    number in CANN's list.
    """

    def __init__(self, array: np.ndarray) -> None:
        if array.dtype.itemsize == 0 or any(step % array.dtype.itemsize for step in array.strides):
            raise ArgumentError(f"the strides {array.strides} are no whole elements of {array.dtype}")
        self.array = array
        strides = [step // array.dtype.itemsize for step in array.strides]
        # A negative stride is for the C side to refuse.
        reach = sum((count - 1) * max(step, 0) for count, step in zip(array.shape, strides, strict=True))
        storage = 0 if array.size == 0 else reach + 1
        made = c_void_p()
        check(
            library().GnCreateTensor(
                whole_numbers(array.shape), array.ndim, graph_number(array.dtype.name), whole_numbers(strides), 0,
                whole_numbers([storage]), 1, array.__array_interface__["data"][0], ctypes.byref(made),
            )
        )  # fmt: skip
        self.handle = made
        weakref.finalize(self, library().GnDestroyTensor, made)


def _int64(name: str, value: Any) -> int:
    """A whole number that C gets as it is: ctypes would cut one that does not fit, and call it right."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"'{name}' must be a whole number, not {value!r}") from None
    if not -(2**63) <= number < 2**63:
        raise ArgumentError(f"'{name}' = {number} does not fit in 64 bits")
    return number


def whole_numbers(numbers: Iterable[int]) -> ctypes.Array[c_int64]:
    """Lengths or strides, as the C functions take them. Raises ArgumentError for one that does not fit."""
    listed = [_int64("length or stride", one) for one in numbers]
    return (c_int64 * len(listed))(*listed)


class Stream:
    """A queue with a thread of its own; a context manager that destroys it at the end.

    kernels: entry -> library, instead of the registered kernels. observed: those with the twin's checks, which stop a
    wrong launch with a diagnostic. Raises as ``build_kernels``.
    """

    def __init__(self, *, observed: bool = False, kernels: Mapping[str, Path] | None = None) -> None:
        libraries = {**build_kernels(observed=observed), **(kernels or {})}
        made = c_void_p()
        check(library().GnCreateStream(ctypes.byref(made)))
        self.handle = made
        self._kept: list[Any] = []  # memory that work on the stream may still read or write
        self._lock = threading.Lock()  # of the list: several threads may use one stream
        self._raised: list[BaseException] = []
        # Also before the interpreter ends: the thread must not work on memory that Python has freed.
        self._end = weakref.finalize(self, _destroy, made, self._kept)
        for entry, path in libraries.items():
            check(library().GnTwinUseKernel(made, entry.encode(), str(path).encode()))

    def keep(self, *objects: Any) -> None:
        """Hold on to what queued work uses, until the stream is synchronised. To be called when it has been queued.

        Before that, another thread's ``synchronize`` would let go of it without having waited for the work.
        """
        with self._lock:
            self._kept.append(objects)

    def launch_host_func(self, function: Callable[[], object]) -> None:
        """Call ``function`` on the stream's thread, in its order. What it raises comes out of ``synchronize``."""

        def call(_: int | None) -> None:
            try:
                function()
            except BaseException as error:  # ctypes would print it and go on
                self._raised.append(error)

        callback = HostFunc(call)
        check(library().GnLaunchHostFunc(self.handle, callback, None))
        self.keep(callback)

    def synchronize(self) -> None:
        """Wait for all work queued so far; raise the first error since the last call, as ``check`` says it."""
        with self._lock:
            kept, self._kept[:] = self._kept[:], []
        status = library().GnSynchronizeStream(self.handle)
        del kept
        check(status)
        if self._raised:
            raise self._raised.pop(0)

    def destroy(self) -> None:
        """Wait as ``synchronize`` does, then end the thread. The stream is of no use afterwards."""
        if self._end.detach() is None:
            return
        status = library().GnDestroyStream(self.handle)
        self._kept.clear()
        check(status)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        try:
            self.destroy()
        except GntError:
            if kind is None:  # otherwise the error that is on its way says more
                raise


def _destroy(handle: c_void_p, kept: list[Any]) -> None:
    library().GnDestroyStream(handle)
    kept.clear()


def group_norm(
    x: np.ndarray,
    gamma: np.ndarray | None = None,
    beta: np.ndarray | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
    stream: Stream | None = None,
    out: np.ndarray | None = None,
) -> GroupNormArrays:
    """GroupNorm of x, shape (N, C, ...), through both calls.

    gamma, beta: shape (C,), x's dtype, None for ones and zeros. out: where to write the result, of x's shape and dtype
    and any strides; a contiguous array otherwise. mean and rstd: float32, shape (N, num_groups). With a ``stream`` this
    returns before anything is computed; ``stream.synchronize()`` makes the arrays valid. Without, it waits.
    Raises Refused for arguments that do not fit; KernelFault as ``Stream.synchronize``.
    """
    if stream is None:
        with Stream() as own:
            return group_norm(x, gamma, beta, num_groups=num_groups, eps=eps, stream=own, out=out)
    sizes = (*x.shape[:2], int(np.prod(x.shape[2:]))) if x.ndim >= 2 else (0, 0, 0)
    groups = _int64("num_groups", num_groups)
    statistics = (sizes[0], groups) if 0 < groups <= sizes[1] else (0, 0)  # then the C side refuses it
    made = GroupNormArrays(
        np.empty(x.shape, x.dtype) if out is None else out,
        np.empty(statistics, np.float32),
        np.empty(statistics, np.float32),
    )
    inputs = [None if one is None else Tensor(one) for one in (x, gamma, beta)]
    outputs = [Tensor(one) for one in made]
    bytes_needed, executor = c_uint64(), c_void_p()
    check(
        library().GroupNormGetWorkspaceSize(
            *(one and one.handle for one in inputs), *sizes, groups, float(eps), *(one.handle for one in outputs),
            ctypes.byref(bytes_needed), ctypes.byref(executor),
        )
    )  # fmt: skip
    workspace = np.empty(bytes_needed.value, np.uint8)
    check(library().GroupNorm(workspace.ctypes.data, workspace.nbytes, executor, stream.handle))
    stream.keep(inputs, outputs, workspace)
    return made


def group_norm_backward(
    grad_out: np.ndarray,
    x: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    gamma: np.ndarray | None = None,
    *,
    num_groups: int,
    output_mask: Sequence[bool] = (True, True, True),
    stream: Stream | None = None,
) -> GroupNormGradients:
    """The gradients of ``group_norm`` through both calls.

    grad_out, x: shape (N, C, ...), one dtype. mean, rstd: what ``group_norm`` returned. gamma: shape (C,), None for
    ones. output_mask: whether the gradients of x, gamma and beta are wanted. ``stream`` and errors as ``group_norm``.
    """
    if stream is None:
        how = {"num_groups": num_groups, "output_mask": output_mask}
        with Stream() as own:
            return group_norm_backward(grad_out, x, mean, rstd, gamma, stream=own, **how)
    sizes = (*x.shape[:2], int(np.prod(x.shape[2:]))) if x.ndim >= 2 else (0, 0, 0)
    mask = [bool(one) for one in output_mask]
    wanted = (*mask, False, False, False)[:3]  # a mask of another length is for the C side to refuse
    shapes = (x.shape, sizes[1:2], sizes[1:2])
    made = GroupNormGradients(
        *(np.empty(shape, x.dtype) if one else None for shape, one in zip(shapes, wanted, strict=True))
    )
    inputs = [None if one is None else Tensor(one) for one in (grad_out, x, mean, rstd, gamma)]
    outputs = [None if one is None else Tensor(one) for one in made]
    bytes_needed, executor = c_uint64(), c_void_p()
    check(
        library().GroupNormBackwardGetWorkspaceSize(
            *(one and one.handle for one in inputs), *sizes, _int64("num_groups", num_groups),
            (c_uint8 * len(mask))(*mask), len(mask), *(one and one.handle for one in outputs),
            ctypes.byref(bytes_needed), ctypes.byref(executor),
        )
    )  # fmt: skip
    workspace = np.empty(bytes_needed.value, np.uint8)
    check(library().GroupNormBackward(workspace.ctypes.data, workspace.nbytes, executor, stream.handle))
    stream.keep(inputs, outputs, workspace)
    return made
