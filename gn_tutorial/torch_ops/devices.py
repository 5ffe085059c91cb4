"""The devices on which an operator runs. Each device has a build of the host API and a stream.

On the CPU the build is the twin's. There a call from PyTorch must have its result when it returns, so the stream does
the work at once. On an NPU the host API puts the work on PyTorch's own stream, which keeps the order, and the call does
not wait.
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

#: The device type of an NPU: "npu" if torch_npu is loaded, else "privateuseone". torch loads torch_npu automatically,
#: so the name is known when this module is imported.
NPU = torch._C._get_privateuse1_backend_name()
# Each thread has its own stream, so that no thread waits for another's work. The stream ends with the thread.
_OWN = threading.local()
# The values of aclFormat for which a tensor's strides describe where its elements lie (torch_npu: base formats).
_PLAIN = {0: "NCHW", 1: "NHWC", 2: "ND", 30: "NCDHW"}
_ND = 2


class Device(Protocol):
    """The interface through which a launch uses the device of its tensors."""

    def library(self) -> ctypes.CDLL:
        """Return the host API, built for this device. Raises GntError."""

    def plain(self, tensors: Sequence[torch.Tensor | None]) -> Sequence[torch.Tensor | None]:
        """Return the tensors, each in a format that its strides describe."""

    def chosen(self) -> AbstractContextManager[object]:
        """Return a context in which this device is PyTorch's current device."""

    def stream(self, operator: str) -> ctypes.c_void_p:
        """Return the handle of the stream for the next launch of ``operator``. Raises GntError."""


class Twin:
    """The CPU as a device, where the twin computes."""

    def plain(self, tensors: Sequence[torch.Tensor | None]) -> Sequence[torch.Tensor | None]:
        """Return the tensors unchanged, because the CPU has no private formats."""
        return tensors

    def chosen(self) -> AbstractContextManager[object]:
        """Return an empty context, because there is only one CPU."""
        return nullcontext()

    def library(self) -> ctypes.CDLL:
        """Return the host API with the twin as the device; the first call may compile it."""
        return c_library.library()

    def stream(self, operator: str) -> ctypes.c_void_p:
        """Return this thread's stream; the first call of an operator may compile its kernels."""
        return _own_stream().ready(operator)


class Npu:
    """NPU number ``index`` as a device, through torch_npu. This was not run on an NPU."""

    def __init__(self, index: int | None) -> None:
        self.index = index

    def plain(self, tensors: Sequence[torch.Tensor | None]) -> Sequence[torch.Tensor | None]:
        """Return the tensors; those in a private format (私有格式) of the NPU, such as FRACTAL_NZ, are converted to ND.

        Strides do not describe a private format. torch_npu gives weights a private format if
        ``torch.npu.config.allow_internal_format`` is on.
        """
        import torch_npu

        def packed(one: torch.Tensor | None) -> torch.Tensor | None:
            if one is None or int(torch_npu.get_npu_format(one)) in _PLAIN:
                return one
            return torch_npu.npu_format_cast(one, _ND)

        return [packed(one) for one in tensors]

    def chosen(self) -> AbstractContextManager[object]:
        """Return PyTorch's context of this NPU, because a tensor may be on another NPU than the current one."""
        return torch.accelerator.device_index(self.index)

    def library(self) -> ctypes.CDLL:
        """Return the host API, built for the NPU. Raises KernelError with the reason if there is no NPU."""
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
        """Return the host API's handle of PyTorch's current NPU stream. The library already has all kernels."""
        from gn_tutorial.host.npu import stream_of_torch

        return stream_of_torch()


_TWIN = Twin()


def device_of(tensor: torch.Tensor) -> Device:
    """Return the device of a tensor argument."""
    return _TWIN if tensor.device.type == "cpu" else Npu(tensor.device.index)


def _own_stream() -> Stream:
    process, stream = getattr(_OWN, "stream", (0, None))
    if stream is None or process != os.getpid():  # a forked child cannot use its parent's stream
        stream = Stream(direct=True)
        _OWN.stream = (os.getpid(), stream)
    return stream
