"""Streams of the host API. Each stream has a queue and a thread, and keeps the memory of its pending work alive."""

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
    """A queue of work with a thread of its own. In a ``with`` statement the stream is destroyed at the end.

    kernels: entry -> library, for kernels to use instead of the registered ones. observed: use kernels with the twin's
    checks, which stop a wrong launch with a diagnostic. direct: use no thread; then each call does its work before it
    returns, and raises its errors. Raises as ``c_library.library`` and ``check`` do.
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
        self._lock = threading.Lock()  # for the list of memory: several threads may use one stream
        self._raised: list[BaseException] = []
        # The finalizer also runs at the interpreter's exit, because the thread must not use memory that Python frees.
        self._end = weakref.finalize(self, _destroy, made, self._kept)
        self._load(kernels or {})

    def ready(self, operator: str) -> c_void_p:
        """Return the stream's handle, after compiling and loading the kernels of ``operator``.

        Kernels are compiled operator by operator, so that a caller never waits for the kernels of another operator.
        Raises as ``build_kernels`` does.
        """
        if operator not in self._ready:  # two threads may both enter: the second one finds the kernels compiled
            libraries = build_kernels(observed=self._observed, operators=[operator])
            self._load({entry: path for entry, path in libraries.items() if entry not in self._given})
            self._ready.add(operator)
        return self.handle

    def _load(self, libraries: Mapping[str, Path]) -> None:
        for entry, path in libraries.items():
            check(c_library.library().GnTwinUseKernel(self.handle, entry.encode(), str(path).encode()))

    def keep(self, *objects: Any) -> None:
        """Keep ``objects``, the memory of queued work, alive until the stream is synchronised.

        Call ``keep`` after queueing the work. Before it, another thread's ``synchronize`` could release the memory
        without waiting for the work.
        """
        with self._lock:
            self._kept.append(objects)

    def launch_host_func(self, function: Callable[[], object]) -> None:
        """Call ``function`` on the stream's thread, after earlier work of the stream.

        If the function raises an exception, ``synchronize`` raises it again. Raises as ``check`` does, for example on a
        direct stream.
        """

        def call(_: int | None) -> None:
            try:
                function()
            except BaseException as error:  # ctypes would print the exception and continue
                self._raised.append(error)

        callback = HostFunc(call)
        check(c_library.library().GnLaunchHostFunc(self.handle, callback, None))
        self.keep(callback)

    def synchronize(self) -> None:
        """Wait for all work queued so far. Raise the first error since the last synchronisation, as ``check`` does.

        If there is none, raise the oldest exception of a host function that was not raised yet.
        """
        with self._lock:
            kept, self._kept[:] = self._kept[:], []
        status = c_library.library().GnSynchronizeStream(self.handle)
        del kept
        check(status)
        if self._raised:
            raise self._raised.pop(0)

    def destroy(self) -> None:
        """Wait for all work, end the thread, and raise as ``check`` does. A second call does nothing.

        Exceptions of host functions are not raised here. The stream cannot be used afterwards.
        """
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
            if kind is None:  # otherwise raise the pending exception, which says more
                raise


def _destroy(handle: c_void_p, kept: list[Any]) -> None:
    c_library.library().GnDestroyStream(handle)
    kept.clear()
