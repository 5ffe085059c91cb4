"""Judges a class: reads the submissions, judges them on many cores, keeps each judgement, writes the results.

A further call judges only the texts that have no valid judgement yet.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import filelock

from gn_tutorial import __version__
from gn_tutorial.course.atomic_write import write_atomically
from gn_tutorial.course.classroom import scheduler
from gn_tutorial.course.classroom.judgement import Judgement, JudgementFile
from gn_tutorial.course.classroom.results import Results, results
from gn_tutorial.course.classroom.results_page import page
from gn_tutorial.course.classroom.similarity import alike
from gn_tutorial.course.classroom.submissions import read_camp
from gn_tutorial.errors import ArgumentError

#: The time limit of one text, in seconds. A task of the exam takes ten to thirty on one core.
LIMIT = 300.0
CSV, JSON, PAGE, KEPT = "results.csv", "results.json", "results.html", "judgements.jsonl"


@dataclass(frozen=True)
class HowFar:
    """How many texts are judged. known: by earlier calls. done: by this call. texts: all. last: the last judgement."""

    known: int
    done: int
    texts: int
    last: Judgement | None = None


@dataclass(frozen=True)
class Where:
    """Where texts are judged: by workers on this machine, or by another cluster if ``scheduler`` is its address.

    workers: how many on this machine; 0: one for each core.
    """

    workers: int = 0
    scheduler: str = ""

    def client(self) -> contextlib.AbstractContextManager[scheduler.Client]:
        """Return a context manager that gives a client of the cluster."""
        return (
            scheduler.remote(self.scheduler) if self.scheduler else scheduler.local(self.workers or scheduler.cores())
        )


def default_results(folder: Path) -> Path:
    """Return the default folder of results, which lies beside the folder of the class.

    It is not inside, because the folder of the class may be read-only, and each call reads everything in it.
    """
    whole = folder.resolve()
    return whole.with_name(f"{whole.name}-judged")


def judge_class(
    folder: Path,
    into: Path,
    where: Where,
    *,
    limit: float = LIMIT,
    anew: bool = False,
    tell: Callable[[HowFar], None] = lambda progress: None,
) -> Results:
    """Judge each submission below ``folder`` that has no valid judgement; write all results to ``into``, return them.

    limit: seconds for each text. anew: forget earlier judgements. tell: called at the beginning and for each judgement.
    Raises ArgumentError without Dask, for a folder of another layout, if ``into`` lies in ``folder``, is in use, cannot
    be written or has a wrong file of judgements, and if the other cluster cannot judge.
    """
    scheduler.need_dask()
    camp = read_camp(folder)
    if into.resolve() == folder.resolve() or folder.resolve() in into.resolve().parents:
        hint = "choose a folder outside it: gnt judge judges everything in the folder of the class"
        raise ArgumentError(f"the results would lie in the folder of the class: {into}", hint=hint)
    with _held(into):
        kept = JudgementFile(into / KEPT)
        if anew:
            kept.clear()
        known = kept.read(__version__, limit)
        texts = camp.texts()
        todo = [text for text in texts if text.digest not in known]
        before = len(texts) - len(todo)
        tell(HowFar(before, 0, len(texts)))
        if todo:
            with kept.open() as writer, where.client() as client:
                for done, one in enumerate(scheduler.judged(client, todo, limit), 1):
                    writer.write([one])
                    known[one.digest] = one
                    tell(HowFar(before, done, len(texts), one))
        found = results(camp, known, alike(camp.submissions))
        write(found, folder, into)
    return found


def write(found: Results, folder: Path, into: Path) -> None:
    """Write the three files of results. Raises ArgumentError if a file cannot be written; that file stays as it was."""
    name = folder.resolve().name
    texts = {
        CSV: found.csv(),
        JSON: json.dumps(found.record(), indent=1, ensure_ascii=False) + "\n",
        PAGE: page(found, f"{name}, judged"),
    }
    try:
        for file, text in texts.items():
            write_atomically(into / file, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise _unwritable(into, error) from error


@contextlib.contextmanager
def _held(into: Path) -> Iterator[None]:
    """Make the folder of results and lock it during the context.

    Raises ArgumentError if another call has the lock, or if the folder cannot be written.
    """
    lock = filelock.FileLock(into / "judging.lock", timeout=0)
    try:
        into.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout as error:
        raise ArgumentError("another gnt judge is writing there", where=str(into)) from error
    except OSError as error:
        raise _unwritable(into, error) from error
    try:
        yield
    finally:
        lock.release()


def _unwritable(into: Path, error: OSError) -> ArgumentError:
    hint = "--results names a folder that you can write to"
    return ArgumentError(f"the results cannot be written: {error.strerror}", where=str(into), hint=hint)
