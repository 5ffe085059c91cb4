"""``gnt run sample.asc``: runs a whole sample with its own ``main``, and prints its output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from gn_tutorial.abi.options import Limits, TwinOptions
from gn_tutorial.cli.terminal import emit_json, print_findings, print_table, working
from gn_tutorial.compiler.build import SourceOptions
from gn_tutorial.errors import ArgumentError
from gn_tutorial.runtime.sample_run import SampleRun, is_whole, run_sample


def applies(target: str) -> bool:
    """Whether the target is a file with a ``main``; False for a missing file, which other code reports."""
    path = Path(target)
    return bool(path.suffix) and path.is_file() and is_whole(path)


def run(
    target: str,
    words: Sequence[str],
    *,
    files: Path | None,
    defines: Sequence[str],
    seconds: float,
    observed: bool,
    optimise: bool = True,
    options: TwinOptions | None = None,
) -> SampleRun:
    """Build the sample and run it with the command line ``words``.

    Raises ArgumentError if the folder ``files`` is missing, and what ``run_sample`` raises.
    """
    if files is not None and not files.is_dir():
        raise ArgumentError(f"there is no folder {files}", hint="make it first: the sample's files are written there")
    with working(f"compiling and running {target}"):
        return run_sample(
            Path(target),
            words,
            folder=files,
            how=SourceOptions(defines=defines),
            observed=observed,
            optimise=optimise,
            options=options,
            limits=Limits(seconds=seconds),
        )


def show(done: SampleRun, *, as_json: bool) -> None:
    """Print the sample's output, and the findings on standard error.

    Counts are printed only on a terminal and only for an observed run, so that a pipe gets the sample's output alone.
    as_json: print all of this as one JSON object instead.
    """
    launched = done.launched
    if as_json:
        emit_json(
            {
                "printed": launched.printed,
                "tally": launched.tally,
                "seconds": launched.seconds,
                "diagnostics": launched.diagnostics.to_list(),
                "compile_seconds": 0.0 if done.built.cached else done.built.seconds,
            }
        )
        return
    print(launched.printed, end="" if launched.printed.endswith("\n") or not launched.printed else "\n")
    print_findings(launched.diagnostics)
    if launched.observed and sys.stdout.isatty():
        tally = launched.tally
        counts = (
            f"{tally.vector:,} vector, {tally.scalar:,} scalar, {tally.mte2:,} copies in, {tally.mte3:,} copies out"
        )
        size = f"{tally.bytes_in:,} in, {tally.bytes_out:,} out"
        print_table(
            (), [("instructions", counts), ("bytes", size), ("kernels' time", f"{launched.seconds * 1e3:.3f} ms")]
        )
