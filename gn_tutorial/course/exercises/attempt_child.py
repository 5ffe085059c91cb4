"""The process that runs a learner's Python: ``python -P attempt_child.py JOB_FOLDER``.

``python -P attempt_child.py --fork LIBRARY ...`` runs many attempts, each in a fork of a process that has imported
NumPy and the libraries. attempt_process.py starts both. This file imports nothing of the package.

attempt_process.py describes the protocol. In addition, arrays that the job names are in arrays.npz, and the results of
call number N are in outN.npz. A call may have a probe, which is a function of the check. The probe gets the attempt's
names and returns what is wrong with them.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import sys
import traceback
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, TextIO

import numpy as np

#: Packages that have the functions that exercises ask for. Importing one fails, even if the attempt hides the import.
FINISHED = ("gn_tutorial", "torch", "scipy", "jax", "tensorflow", "sklearn", "pandas")


def main(folder: Path) -> None:
    """Run the job in the folder. Exceptions of the learner's code are reported, and never leave this function."""
    job = read_job(folder)
    arrays = dict(np.load(folder / "arrays.npz"))
    _wall(folder)
    _limit(job["memory_bytes"], job["file_bytes"])
    _close(job["libraries"])
    with report_of(folder) as answers:
        names: dict[str, Any] = {"__name__": "attempt", "__file__": job["source"]}
        try:
            exec(compile(Path(job["source"]).read_text(encoding="utf-8-sig"), job["source"], "exec"), names)
        except BaseException as error:
            report(answers, _failure(error, job["source"]))
            return
        for number, call in enumerate(job["calls"]):
            report(answers, _call(folder, number, call, names, arrays, job["source"]))


def read_job(folder: Path) -> dict[str, Any]:
    """Return the job that the checker wrote into the folder."""
    return json.loads((folder / "job.json").read_text(encoding="utf-8"))


def report_of(folder: Path) -> TextIO:
    """Open the file that ``report`` writes to; the caller closes it."""
    return (folder / "report.jsonl").open("w", encoding="utf-8")


def report(answers: TextIO, fact: dict[str, Any]) -> None:
    """Write the answer to one call of the job at once, because the next call may never end."""
    answers.write(json.dumps(fact) + "\n")
    answers.flush()


def forked(libraries: Sequence[str]) -> Path:
    """Import the libraries once, then fork for each line of standard input.

    A line is a job's folder, as JSON. Only the forks return; each returns its job's folder. This process writes a line
    when the libraries are imported, and for each fork a line with the process id and one with the exit code (the
    negative number of a signal that ended the fork). It ends when its input ends, and never runs an attempt's code.
    """
    _close(libraries)
    for name in libraries:
        importlib.import_module(name)
    if "torch" in libraries:
        with contextlib.suppress(Exception):  # saves half a second in the first gradient of every attempt
            importlib.import_module("torch.fx.experimental.symbolic_shapes")
    gc.freeze()  # otherwise a fork would look for garbage among the modules, and so copy their memory
    _tell(0)
    last = 0
    while True:
        line = sys.stdin.readline()
        if last:  # not sooner: no other process may get the fork's id until the reading process knows that it ended
            os.waitpid(last, 0)
        if not line:
            os._exit(0)  # as at the end of this file
        folder = Path(json.loads(line))
        last = os.fork()
        if not last:
            _leave_the_pipes(folder)
            return folder
        _tell(last)
        ended = os.waitid(os.P_PID, last, os.WEXITED | os.WNOWAIT)
        _tell(ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status)


def _leave_the_pipes(folder: Path) -> None:
    """Replace the inherited pipes: standard input becomes empty, and output goes to the file ``printed``."""
    nothing, printed = os.open(os.devnull, os.O_RDONLY), os.open(folder / "printed", os.O_WRONLY | os.O_CREAT)
    for stream, own in enumerate((nothing, printed, printed)):
        os.dup2(own, stream)
    os.close(nothing)
    os.close(printed)


def _tell(number: int) -> None:
    print(number, flush=True)


def _call(
    folder: Path,
    number: int,
    call: dict[str, Any],
    names: dict[str, Any],
    arrays: Mapping[str, np.ndarray],
    source: str,
) -> dict[str, Any]:
    if "probe" in call:
        return _probe(call, names, source)
    function = names.get(call["function"])
    if not callable(function):
        return {"missing": call["function"]}
    given = {name: _value(value, arrays) for name, value in call["arguments"].items()}
    before = {name: value.copy() for name, value in given.items() if isinstance(value, np.ndarray)}
    peak = 0
    if call["measured"]:  # tracemalloc counts NumPy's arrays, but not the arguments, which were made before
        tracemalloc.start()
    try:
        with np.errstate(all="ignore"):
            answer = function(**given)
    except BaseException as error:
        return _failure(error, source)
    finally:
        if call["measured"]:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    for name, value in before.items():
        if not np.array_equal(given[name], value):
            return {"edited": name}
    parts = list(answer) if isinstance(answer, (tuple, list)) else [answer]
    if any(part is None for part in parts):
        return {"returned": "None"}
    made = [np.asarray(part) for part in parts]
    if any(array.dtype.kind not in "fiub" for array in made):
        return {"returned": ", ".join(type(part).__name__ for part in parts)}
    np.savez(folder / f"out{number}.npz", *made)
    return {"done": len(made), "peak": peak}


def _probe(call: dict[str, Any], names: dict[str, Any], source: str) -> dict[str, Any]:
    try:
        said = _function(call["probe"])(SimpleNamespace(**names), **call["arguments"]) or ""
    except BaseException as error:
        return _failure(error, source)
    text, line = said if isinstance(said, tuple) else (said, 0)
    return {"said": text, "line": line}


def _function(value: Mapping[str, str]) -> Any:
    names: dict[str, Any] = {"__name__": value["name"]}
    exec(compile(value["code"], f"<{value['name']}>", "exec"), names)
    return names[value["name"]]


def _value(value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if isinstance(value, dict) and "array" in value:
        return arrays[value["array"]].copy()
    if isinstance(value, dict) and "code" in value:
        return _function(value)
    if isinstance(value, dict):
        return _once([arrays[name].copy() for name in value["chunks"]])
    return value


def _once(chunks: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield each chunk, and overwrite it before the next one, as on a core the next copy overwrites the buffer."""
    for chunk in chunks:
        yield chunk
        chunk.fill(np.nan)


def _failure(error: BaseException, source: str) -> dict[str, Any]:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == source]
    line = error.lineno if isinstance(error, SyntaxError) else (lines[-1] if lines else 0)
    return {"error": type(error).__name__, "text": _printable(str(error)), "line": line or 0}


def _printable(text: str) -> str:
    """Return the text with each lone surrogate written as an escape, because no terminal accepts a lone surrogate."""
    return text.encode("utf-8", "backslashreplace").decode()


def _close(libraries: Sequence[str]) -> None:
    """Make imports of packages with finished functions fail, except those of the exercise's libraries."""
    for name in set(FINISHED) - set(libraries):
        sys.modules[name] = None  # type: ignore[assignment]
    if "torch" in libraries:
        _spare_the_graph_compiler()


def _spare_the_graph_compiler() -> None:
    """Keep PyTorch from importing its graph compiler.

    A custom operator imports that compiler at its first call, to say that the operator must not be compiled. The import
    takes as long as that of the rest of PyTorch, and nothing is compiled here.
    """
    with contextlib.suppress(Exception):  # if PyTorch does not load, the attempt reports it
        import torch

        if hasattr(torch, "_disable_dynamo"):
            torch._disable_dynamo = lambda fn=None, recursive=True: fn or (lambda one: one)


def _wall(folder: Path) -> None:
    """On Linux, make this process end with its parent, and restrict it as far as the system can.

    The process may write only in the job's folder, and may not change other processes.
    """
    if _SANDBOX is None:
        return
    _SANDBOX.die_with_parent()
    os.environ["TMPDIR"] = str(folder)
    _SANDBOX.write_only_in(str(folder))
    _SANDBOX.leave_others_alone()


def _write_sandbox() -> ModuleType | None:
    """Return the module runtime/write_sandbox.py, loaded by its path; None except on Linux.

    An import would load the package too, which an attempt must not find.
    """
    if sys.platform != "linux":
        return None
    path = Path(__file__).resolve().parents[2] / "runtime" / "write_sandbox.py"
    spec = importlib.util.spec_from_file_location("write_sandbox", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_SANDBOX = _write_sandbox()


def _limit(memory_bytes: int, file_bytes: int) -> None:
    """Limit the process's memory, and the size of its files, because a loop that prints could fill the disk."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    except (ImportError, ValueError, OSError):
        pass  # a platform without these limits still has the limit of time


if __name__ == "__main__":
    main(forked(sys.argv[2:]) if sys.argv[1] == "--fork" else Path(sys.argv[1]))
    # The report is closed. An orderly exit of PyTorch would take half a second, and more in a fork.
    os._exit(0)
