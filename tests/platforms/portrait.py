"""What this machine makes of the course's programs, one line of JSON each: two machines should print the same.

``python tests/platforms/portrait.py --pairs 4`` needs nothing but the package and tests/support. `.ci/aarch64` runs it
on an emulated aarch64 and on the host, and names the lines that differ. A line is ``[name, facts]``; what may differ
between two right machines (paths, wall times, addresses) is not in the facts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# The support of the tests, and the clone before any installed copy: this is a program, which pytest does not set up.
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import program_pairs  # noqa: E402

import gn_tutorial as gnt  # noqa: E402
from gn_tutorial.abi.structs import Role  # noqa: E402

#: Emulated, the compiler costs the most by far: all kernels share the headers that one level has precompiled.
LEVEL = "little"
#: Of the pairs' random sample: every run of one count takes the same.
SEED = 15
#: Seconds. The endless kernel must have begun when they are over, also where starting a process takes long.
ENDLESS = 5.0
EXERCISE = "03.1"

Facts = dict[str, Any]


def digest(array: np.ndarray) -> str:
    """Return a digest of all bits; every NaN counts as one, because IEEE 754 leaves its sign and payload open."""
    kind = array.dtype
    if kind.kind not in "iub":
        array = np.where(np.isnan(array.astype(np.float32)), np.array(np.nan, kind), array).astype(kind)
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def normal(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Data of a shape and dtype, the same on every machine: NumPy's bit stream is, its normal numbers need not be."""
    units = np.random.default_rng(len(shape)).integers(-3000, 5000, shape)
    return (units.astype(np.float32) / np.float32(1024)).astype(dtype)


# --- launches --------------------------------------------------------------------------------------------------------


def launched(name: str, *inputs: np.ndarray, **attributes: Any) -> Facts:
    """Return digests of a registered kernel's outputs, and its counts."""
    result = gnt.kernel(name, optimise=LEVEL)(*inputs, **attributes)
    facts = {output: digest(array) for output, array in result.outputs.items()}
    return facts | {"vector instructions": result.tally.vector, "bytes in": result.tally.bytes_in}


def profiled(name: str, *inputs: np.ndarray, **attributes: Any) -> Facts:
    """Modelled times, to the last bit."""
    profile = gnt.profile(gnt.kernel(name, optimise=LEVEL), *inputs, **attributes)
    return {"microseconds": profile.microseconds.hex()} | {
        f"busy {pipe.name}": microseconds.hex() for pipe, microseconds in profile.busy.items()
    }


def launches() -> dict[str, Callable[[], Facts]]:
    """Seven calls: five of GroupNorm's kernels and activations in float32, one in float16, one profile."""
    x, long = normal(2, 8, 11, 13), normal(1, 4, 64, 65)
    return {
        "GroupNorm, vectorised": partial(launched, "group_norm/vectorised", x, num_groups=4),
        "GroupNorm, split": partial(launched, "group_norm/split", long, num_groups=2),
        "GroupNorm, any size": partial(launched, "group_norm/any", normal(3, 6, 7), num_groups=3),
        "GroupNorm, half": partial(launched, "group_norm/any", normal(2, 6, 35, dtype="float16"), num_groups=2),
        "SiLU": partial(launched, "silu/queue", normal(1003)),
        "GELU": partial(launched, "gelu/queue", normal(997)),
        "profile of GroupNorm": partial(profiled, "group_norm/vectorised", x, num_groups=4),
    }


# --- programs with a mistake that the twin reports -------------------------------------------------------------------


def report(call: Callable[[], object]) -> Facts:
    """How a launch ended: the error's kind and words, or the warnings; findings by id and line."""
    try:
        findings, facts = call().diagnostics, {"ended": "well"}
    except gnt.errors.KernelError as error:
        findings = getattr(error, "diagnostics", ())
        facts = {"ended": type(error).__name__, "told": portable(error.what), "where": portable(error.where)}
    return facts | {"findings": [[Path(one.file).name, one.line, one.id, one.severity] for one in findings]}


def portable(text: str) -> str:
    """A message without the folders of this machine."""
    return re.sub(r"(?:[\w.~-]*/)+(?=[\w.-]+\.(?:cpp|h)\b)", "", text)


def pairs(count: int) -> dict[str, Callable[[], Facts]]:
    """Right and wrong programs, ``count`` of each; one library, since the headers cost more than the programs."""
    wrong = sorted(name for name in program_pairs.SOURCES if name.endswith("_bad"))
    chosen = random.Random(SEED).sample(wrong, min(count, len(wrong)))
    names = [name for bad in sorted(chosen) for name in (bad, bad.replace("_bad", "_ok"))]
    paths = {name: program_pairs.SOURCES[name] for name in names}
    library = gnt.kernel(
        source="\n".join(f'#line 1 "{path}"\n{path.read_text("utf-8")}' for path in paths.values()), optimise=LEVEL
    )
    return {f"program {name}": partial(pair, library, name) for name in names}


def pair(library: gnt.Kernel, name: str) -> Facts:
    """The report on a program, launched as its comments ask."""
    asked = program_pairs.request(name)
    made = {
        Role.IN: lambda array: array,
        Role.INOUT: gnt.inout,
        Role.OUT: lambda array: gnt.out(array.shape, array.dtype),
    }
    values = [made[arg.role](arg.data) for arg in asked.args]
    call = partial(library.run, *values, entry=asked.entry, blocks=asked.blocks, options=asked.options)
    facts = report(call)
    if name.endswith("_bad"):  # also right by the program's own comment, not only equal
        ((finding, line),) = program_pairs.expected(program_pairs.SOURCES[name])
        facts["as the comment says"] = any(one[1:3] == [line, finding] for one in facts["findings"])
    return facts


def limits() -> dict[str, Callable[[], Facts]]:
    """A fault, a time-out and a crash."""
    library = gnt.kernel(HERE / "limits.cpp", optimise=LEVEL)
    x = np.ones(64, np.float32)
    return {
        f"limit: {entry}": partial(
            report,
            partial(
                library.run,
                x,
                gnt.out((64,), "float32"),
                entry=entry,
                blocks=1,
                limits=gnt.Limits(seconds=ENDLESS if entry == "endless" else 60.0),
            ),
        )
        for entry in ("fault", "endless", "crash")
    }


def attempts() -> dict[str, Callable[[], Facts]]:
    """An exercise's solution and its first wrong solution, checked as a learner's cell is."""
    (described,) = ROOT.glob(f"solutions/*/{EXERCISE.replace('.', '_')}.exercise.toml")
    exercise = tomllib.loads(described.read_text(encoding="utf-8"))
    solution = described.with_name(exercise["file"]).read_text(encoding="utf-8")
    first, wrong = exercise["wrong"][0], solution
    for edit in first["edit"]:
        wrong = wrong.replace(edit["find"], edit["replace"])

    def verdict(text: str) -> Facts:
        checked = gnt.check(EXERCISE, source=text)
        return {"status": checked.status, "cases": checked.cases, "message": portable(checked.message)}

    return {
        f"exercise {EXERCISE}, solution": partial(verdict, solution),
        f"exercise {EXERCISE}, {first['name']}": partial(verdict, wrong),
    }


# --- the program -----------------------------------------------------------------------------------------------------


def portrait(count: int, workers: int) -> Iterator[tuple[str, Facts]]:
    """Every row, in one order. A row that could not be made says why, and the others are made all the same."""
    rows = launches() | pairs(count) | limits() | attempts()

    def one(make: Callable[[], Facts]) -> Facts:
        try:
            return make()
        except Exception as error:  # a platform's difference may be any error: it is what we look for
            return {"error": f"{type(error).__name__}: {portable(str(error))}"}

    (first, make), *rest = rows.items()
    # By itself: all wait for the launcher, the checkers and the precompiled headers, which it makes.
    yield first, one(make)
    with ThreadPoolExecutor(workers) as pool:
        waiting = [(name, pool.submit(one, make)) for name, make in rest]
        for name, made in waiting:
            yield name, made.result()


def main() -> None:
    """Print the portrait, in folders of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=4, help="of tests/programs; default %(default)s")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="compilations at a time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gn_tutorial_portrait-") as learner:
        os.environ["GNT_EXERCISES_DIR"] = os.environ["GNT_DATA_DIR"] = learner
        for row in portrait(options.pairs, options.workers):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
