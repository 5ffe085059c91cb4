"""Makes the two calls of an operator separately, and returns their codes, as a C program does.

    first = gnt.host.first_call("GroupNorm", x, gamma, beta, n, c, hxw, groups, eps, out, mean, rstd)
    workspace = np.empty(first.workspace_size, np.uint8)
    code = gnt.host.second_call("GroupNorm", workspace, first.executor, stream)

The functions of ``host.operators`` make both calls at once and raise errors.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from ctypes import c_uint8, c_uint64, c_void_p
from typing import Any, NamedTuple

import numpy as np

from gn_tutorial.errors import ArgumentError
from gn_tutorial.host import c_library
from gn_tutorial.host.arrays import Tensor
from gn_tutorial.host.c_library import Code
from gn_tutorial.host.stream import Stream


class Executor:
    """The plan that a first call made: kernels, tiling, copies. The object keeps the plan's arrays alive.

    Pass ``handle`` to the C functions. A plan that was never run is destroyed with this object.
    """

    def __init__(self, handle: c_void_p, arrays: Sequence[np.ndarray]) -> None:
        self.handle = handle
        self.arrays = tuple(arrays)
        weakref.finalize(self, c_library.library().GnDestroyExecutor, handle)  # the C side refuses a used plan


class FirstCall(NamedTuple):
    """The result of a first call. workspace_size: in bytes. A refused call has size 0, no executor, and a message."""

    code: Code
    workspace_size: int
    executor: Executor | None
    message: str = ""


def first_call(operator: str, *arguments: Any) -> FirstCall:
    """Call ``<operator>GetWorkspaceSize``, which checks all arguments and plans without computing; return the result.

    arguments: as ``kernels/host_api/gn_*.h`` declares them, without the last two, which are results here. A tensor is
    an array or None; a mask and its length are one list of booleans. Raises ArgumentError for an unknown operator, a
    wrong number of arguments, an argument of the wrong kind, and an array for which ``Tensor`` raises it or Refused.
    """
    if operator not in c_library.operators():
        known = ", ".join(c_library.operators())
        raise ArgumentError(f"the host API has no operator {operator!r}", hint=f"it has {known}")
    loaded, name = c_library.library(), f"{operator}GetWorkspaceSize"
    tensors, words = _words(arguments)
    types = c_library.functions()[name].arguments[:-2]
    if len(words) != len(types):
        raise ArgumentError(
            f"{name} takes {len(types)} arguments in front of its results, and is given {len(words)}",
            hint="a mask counts as two: itself and its length",
        )
    size, executor = c_uint64(), c_void_p()
    try:
        status = getattr(loaded, name)(*words, ctypes.byref(size), ctypes.byref(executor))
    except ctypes.ArgumentError as error:
        raise ArgumentError(f"{name}: {error}", hint="kernels/host_api has the order of arguments") from None
    if status != Code.SUCCESS:
        return FirstCall(Code(status), 0, None, _message(loaded))
    return FirstCall(Code.SUCCESS, size.value, Executor(executor, [one.array for one in tensors]))


def second_call(operator: str, workspace: np.ndarray | None, executor: Executor | None, stream: Stream) -> Code:
    """Call ``<operator>``, which puts the plan on the stream; return the code without waiting for the plan to run.

    workspace: an array of at least ``FirstCall.workspace_size`` bytes; None stands for a null pointer of size 0. The
    outputs are valid after ``stream.synchronize()``. A refused call raises no error; ``GnGetRecentErrMsg`` says why.
    Raises as ``Stream.ready`` does.
    """
    address = None if workspace is None else workspace.ctypes.data
    size = 0 if workspace is None else workspace.nbytes
    handle = executor and executor.handle
    status = getattr(c_library.library(), operator)(address, size, handle, stream.ready(operator))
    if status == Code.SUCCESS:
        stream.keep(workspace, executor)
    return Code(status)


def _words(arguments: Sequence[Any]) -> tuple[list[Tensor], list[Any]]:
    """Return the arrays' tensors, which must live until the call ends, and all arguments converted for ctypes."""
    tensors: list[Tensor] = []
    words: list[Any] = []
    for one in arguments:
        match one:
            case np.ndarray():
                tensors.append(Tensor(one))
                words.append(tensors[-1].handle)
            case list() | tuple():
                words += [(c_uint8 * len(one))(*map(bool, one)), len(one)]
            case None | float():
                words.append(one)
            case _:
                words.append(c_library.whole_number("an argument", one))
    return tensors, words


def _message(loaded: ctypes.CDLL) -> str:
    """Return the first line of the message of this thread's last failure."""
    return (loaded.GnGetRecentErrMsg() or b"").decode("utf-8", "replace").partition("\n")[0]
