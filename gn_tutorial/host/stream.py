"""Streams of the host API from Python: a queue with a thread of its own, and what its work may still read or write."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable, Mapping
from ctypes import c_void_p
from pathlib import Path
from typing import Any

from gn_tutorial.errors import GntError
from gn_tutorial.host import c_library
from gn_tutorial.host.c_headers import HostFunc
from gn_tutorial.host.c_library import build_kernels, check


class Stream:
    """A queue with a thread of its own; a context manager that destroys it at the end.

    kernels: entry -> library, instead of the registered kernel. observed: those with the twin's checks, which stop a
    wrong launch with a diagnostic. direct: no thread; work is done when the call that queues it returns, which also
    raises what goes wrong. Raises as ``c_library.library``.
    """

    def __init__(
        self, *, observed: bool = False, kernels: Mapping[str, Path] | None = None, direct: bool = False
    ) -> None:
        made = c_void_p()
        loaded = c_library.library()
        check((loaded.GnTwinCreateDirectStream if direct else loaded.GnCreateStream)(ctypes.byref(made)))
        self.handle = made
        self._observed, self._given = observed, frozenset(kernels or ())
        self._ready: set[str] = set()  # operators
        self._kept: list[Any] = []  # memory that work on the stream may still read or write
        self._lock = threading.Lock()  # of the list: several threads may use one stream
        self._raised: list[BaseException] = []
        # Also before the interpreter ends: the thread must not work on memory that Python has freed.
        self._end = weakref.finalize(self, _destroy, made, self._kept)
        self._load(kernels or {})

    def ready(self, operator: str) -> c_void_p:
        """The handle, once the kernels of an operator of the host API are compiled and loaded.

        Operator by operator, so that nobody waits for the compiler because of one that is not called. Raises as
        ``build_kernels``.
        """
        if operator not in self._ready:  # of two threads both may do it: the second one finds it done
            libraries = build_kernels(observed=self._observed, operators=[operator])
            self._load({entry: path for entry, path in libraries.items() if entry not in self._given})
            self._ready.add(operator)
        return self.handle

    def _load(self, libraries: Mapping[str, Path]) -> None:
        for entry, path in libraries.items():
            check(c_library.library().GnTwinUseKernel(self.handle, entry.encode(), str(path).encode()))

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
        check(c_library.library().GnLaunchHostFunc(self.handle, callback, None))
        self.keep(callback)

    def synchronize(self) -> None:
        """Wait for all work queued so far; raise the first error since the last call, as ``check`` says it."""
        with self._lock:
            kept, self._kept[:] = self._kept[:], []
        status = c_library.library().GnSynchronizeStream(self.handle)
        del kept
        check(status)
        if self._raised:
            raise self._raised.pop(0)

    def destroy(self) -> None:
        """Wait as ``synchronize`` does, then end the thread. The stream is of no use afterwards."""
        if self._end.detach() is None:
            return
        status = c_library.library().GnDestroyStream(self.handle)
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
    c_library.library().GnDestroyStream(handle)
    kept.clear()
