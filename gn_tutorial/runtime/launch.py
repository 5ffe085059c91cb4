"""Launch one kernel of a built library, isolated from the caller or inside its process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gn_tutorial.abi.trace import Trace, Tracing
from gn_tutorial.compiler.build import build_launcher
from gn_tutorial.compiler.cached_library import Kept
from gn_tutorial.runtime import in_process, isolated
from gn_tutorial.runtime.launch_types import LaunchRequest, LaunchResult


def launch(library: Path, request: LaunchRequest) -> LaunchResult:
    """Run one kernel of ``library`` and return its result. For many runs of one launch use ``in_process.Prepared``.

    Raises KernelFault for a mistake that the twin found; KernelCrash, KernelTimeout, KernelMemoryLimit or
    KernelOutputLimit for a kernel that did not return; ArgumentError for arguments that do not fit the kernel;
    KernelError for a library that cannot be loaded, or if the system gives no process or shared memory; the errors of
    ``build_launcher``.
    """
    if not request.isolated:
        return in_process.Prepared(library, request)()
    return isolated.run(_LAUNCHER.path(), library, request)


def traced(library: Path, request: LaunchRequest, tracing: Tracing) -> Trace:
    """Run the request with tracing, and return only the trace. Raises as ``launch`` does."""
    trace = launch(library, replace(request, tracing=tracing)).trace
    assert trace is not None  # because the request has ``tracing``
    return trace


_LAUNCHER = Kept(lambda: build_launcher().library)
