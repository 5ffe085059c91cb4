"""Where an operator runs: a build of the host API, and a stream of it.

On the CPU that is the twin's build. A call from PyTorch must have its result when it returns there, so its stream does
the work at once. On an NPU the host API's work joins PyTorch's own stream, which keeps the order, and nobody waits.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import torch

from gn_tutorial.errors import KernelError
from gn_tutorial.host import c_library
from gn_tutorial.host.stream import Stream

#: What the device type of an NPU is called: "npu" once torch_npu is there, "privateuseone" before. torch loads
#: torch_npu by itself, so the name is known when this module is imported.
NPU = torch._C._get_privateuse1_backend_name()
# A stream belongs to one thread here, so that nobody waits for another's work. It ends with its thread.
_OWN = threading.local()
# aclFormat: in these, elements are where a tensor's strides say. torch_npu calls them base formats.
_PLAIN = {0: "NCHW", 1: "NHWC", 2: "ND", 30: "NCDHW"}
_ND = 2


class Device(Protocol):
    """What a launch needs of the place where the tensors are."""

    def library(self) -> ctypes.CDLL:
        """The host API, built for this device. Raises GntError."""

    def plain(self, tensors: Sequence[torch.Tensor | None]) -> Sequence[torch.Tensor | None]:
        """The same tensors, with elements where their strides say."""

    def chosen(self) -> AbstractContextManager[object]:
        """A block in which this is the device that streams and launches mean."""

    def stream(self, operator: str) -> ctypes.c_void_p:
        """The handle of the stream that the next launch of ``operator`` goes to. Raises GntError."""


class Twin:
    """The CPU."""

    def plain(self, tensors: Sequence[torch.Tensor | None]) -> Sequence[torch.Tensor | None]:
        """They are."""
        return tensors

    def chosen(self) -> AbstractContextManager[object]:
        """There is one CPU."""
        return nullcontext()

    def library(self) -> ctypes.CDLL:
        """The host API with the twin as the device; the first call may compile it."""
        return c_library.library()

    def stream(self, operator: str) -> ctypes.c_void_p:
        """A stream of this thread; the first call of an operator may compile its kernels."""
        return _own_stream().ready(operator)


class Npu:
    """NPU number ``index``, through torch_npu. Not run on one here."""

    def __init__(self, index: int | None) -> None:
        self.index = index

    def plain(self, tensors: Sequence[torch.Tensor | None]) -> Sequence[torch.Tensor | None]:
        """Tensors in a private format (私有格式) of the NPU, such as FRACTAL_NZ, are packed: strides say nothing there.

        torch_npu gives weights such a format where ``torch.npu.config.allow_internal_format`` is on.
        """
        import torch_npu

        def packed(one: torch.Tensor | None) -> torch.Tensor | None:
            if one is None or int(torch_npu.get_npu_format(one)) in _PLAIN:
                return one
            return torch_npu.npu_format_cast(one, _ND)

        return [packed(one) for one in tensors]

    def chosen(self) -> AbstractContextManager[object]:
        """PyTorch's choice of this NPU: a tensor may be on another one than the current."""
        return torch.accelerator.device_index(self.index)

    def library(self) -> ctypes.CDLL:
        """The host API, built for the NPU. Raises KernelError with the reason where there is none."""
        from gn_tutorial.host.npu import host_library as npu_library
        from gn_tutorial.host.npu import why_not

        if reason := why_not():
            raise KernelError(
                f"there is no NPU to run on: {reason}",
                where="torch.ops.gn_tutorial",
                hint="tensors on the CPU run on the twin; `gnt doctor` says what is missing",
            )
        return npu_library()

    def stream(self, operator: str) -> ctypes.c_void_p:
        """What PyTorch's current NPU stream is to the host API: its library has the kernels of all operators."""
        from gn_tutorial.host.npu import stream_of_torch

        return stream_of_torch()


_TWIN = Twin()


def device_of(tensor: torch.Tensor) -> Device:
    """The device of a tensor that a kernel here was called with."""
    return _TWIN if tensor.device.type == "cpu" else Npu(tensor.device.index)


def _own_stream() -> Stream:
    process, stream = getattr(_OWN, "stream", (0, None))
    if stream is None or process != os.getpid():  # a forked child cannot use its parent's
        stream = Stream(direct=True)
        _OWN.stream = (os.getpid(), stream)
    return stream
