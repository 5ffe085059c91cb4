"""Judges texts on many cores with Dask's distributed: with workers here, or with the workers of another cluster.

The local cluster consists of threads of this process, each of which waits for its own ``JudgingProcess``. It opens no
port, because another user of the machine, or a text that is not isolated, could connect to one. If a worker of another
cluster is lost, Dask gives its texts to other workers.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gn_tutorial import __version__
from gn_tutorial.course.classroom.judgement import Judgement
from gn_tutorial.errors import ArgumentError

if TYPE_CHECKING:
    from distributed import Client

    from gn_tutorial.course.classroom.judging_process import JudgingProcess
    from gn_tutorial.course.classroom.submissions import Text

_CONNECT_SECONDS = 15
_mine = threading.local()
_started: list[JudgingProcess] = []


def need_dask() -> None:
    """Raise ArgumentError, with the command to install it, if Dask's distributed is missing."""
    if find_spec("distributed") is None:
        raise ArgumentError(
            "Dask's distributed is not installed, and judging a class needs it",
            hint="pip install 'gn_tutorial[judge]'",
        )


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def local(workers: int) -> Iterator[Client]:
    """Start this many workers in this process, yield their client, and end their judging processes at the end."""
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it logs every text that Ctrl-C interrupts
    warnings.filterwarnings("ignore", "Creating scratch directories")  # it advises an option of Dask
    nowhere = "127.0.0.1:0"
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=False,
            protocol="inproc://",
            memory_limit=0,  # the memory is used by processes with their own limits
            dashboard_address=nowhere,
            worker_dashboard_address=nowhere,
        ) as cluster,
        Client(cluster) as client,
    ):
        for node in (cluster.scheduler, *cluster.workers.values()):
            node.http_server.stop()
        try:
            yield client
        finally:
            end_processes()


@contextlib.contextmanager
def remote(address: str) -> Iterator[Client]:
    """Yield a client of the scheduler at ``address``.

    Raises ArgumentError if no scheduler answers, if it has no worker, or if a worker lacks this version of the course.
    """
    from distributed import Client

    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ArgumentError(
            f"no scheduler answers: {str(error) or type(error).__name__}",
            where=address,
            hint="dask scheduler starts one, dask worker ADDRESS a worker; tls:// takes its keys from Dask's settings",
        ) from error
    with client:
        _same_course(client, address)
        yield client


def _same_course(client: Client, address: str) -> None:
    try:
        versions: Mapping[str, str] = client.run(_version)
    except Exception as error:
        what = f"a worker cannot judge: {error}"
        hint = f"pip install 'gn_tutorial[judge]' there, version {__version__}"
        raise ArgumentError(what, where=address, hint=hint) from error
    for worker, version in versions.items():
        if version != __version__:
            what = f"a worker has version {version} of the course, and here it is {__version__}"
            raise ArgumentError(what, where=worker, hint="the same version everywhere gives the same verdicts")
    if not versions:
        raise ArgumentError("the scheduler has no worker", where=address, hint=f"dask worker {address}")


def _version() -> str:
    return __version__


def judged(client: Client, texts: Sequence[Text], limit: float) -> Iterator[Judgement]:
    """Yield a judgement for each text, in the order in which they are finished. limit: seconds for each text."""
    from distributed import as_completed

    futures = {client.submit(judge_here, text, limit, key=f"judge-{text.digest}", pure=False): text for text in texts}
    for done in as_completed(futures, loop=client.loop, raise_errors=False):
        text = futures.pop(done)
        error = done.exception()
        yield _lost(text, limit, error) if error is not None else done.result()
        done.release()


def judge_here(text: Text, limit: float) -> Judgement:
    """Return the judgement on a text, made by this thread's judging process. The process stays for the next text."""
    from gn_tutorial.course.classroom.judging_process import JudgingProcess

    if not hasattr(_mine, "process"):
        _mine.process = JudgingProcess()
        _started.append(_mine.process)
    return _mine.process.judge(text, limit)


def running() -> list[JudgingProcess]:
    """Return the judging processes of this process's workers."""
    return list(_started)


@atexit.register
def end_processes() -> None:
    """End the judging processes of this process's workers."""
    while _started:
        _started.pop().close()
    _mine.__dict__.clear()


def _lost(text: Text, limit: float, error: Any) -> Judgement:
    """Return the judgement on a text for which Dask gives an error, usually because it lost several workers over it."""
    from gn_tutorial.course.classroom.judge_text import points_of
    from gn_tutorial.course.classroom.judgement import Finding

    what = f"the workers that were to judge it were lost: {error}"
    return Judgement(text.digest, "undecided", 0.0, points_of(text.kind), (Finding(what),), 0.0, limit, __version__)
