"""``gnt tune``: candidates for a tiling field as a table, JSON and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gn_tutorial.bench.autotune import Candidate, Tuning, tune
from gn_tutorial.bench.grid import BenchCase
from gn_tutorial.bench.run import OK
from gn_tutorial.cli.commands.bench import DEFAULT_MACHINE
from gn_tutorial.cli.commands.profile import check_paths
from gn_tutorial.cli.commands.run import parse_call
from gn_tutorial.cli.terminal import emit_json, print_table, working
from gn_tutorial.errors import ArgumentError
from gn_tutorial.timing.machine import load_machine


@dataclass(frozen=True)
class Question:
    """The options of ``gnt tune``. values: as the user wrote them."""

    kernel: str
    shape: str = ""
    groups: int | None = None
    settings: Sequence[str] = ()
    dtype: str = ""
    field: str = ""
    values: str = ""
    machine: str = ""
    seed: int = 0


def ask(question: Question) -> Tuning:
    """Run it. Raises ArgumentError or RegistryError quoting the word that cannot be read."""
    call = parse_call(question.kernel, question.shape, question.groups, question.settings, question.dtype)
    case = BenchCase(call.shape, call.attributes, call.dtype)
    machine = load_machine(question.machine or DEFAULT_MACHINE)
    with working(f"trying values on {question.kernel}"):
        return tune(
            call.op, call.spec, case, machine,
            field=question.field, values=parse_values(question.values), seed=question.seed,
        )  # fmt: skip


def parse_values(text: str) -> list[int]:
    """``512,1024`` -> [512, 1024]. Raises ArgumentError quoting the text."""
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise ArgumentError(f"--values {text}: whole numbers are needed", hint="--values 512,1024,2048") from None


def run(question: Question, *, plot: Path | None, as_json: bool) -> bool:
    """Tune, draw and print; returns whether any candidate ran."""
    check_paths(plot)
    found = ask(question)
    if plot is not None:
        from gn_tutorial.plot.tuning import tuning_curve

        tuning_curve(found).save(plot)
    if as_json:
        emit_json(as_data(found))
    else:
        _print(found, plot)
    return bool(found.ran)


def as_data(found: Tuning) -> dict[str, object]:
    """The tuning as JSON has it."""
    best = found.best
    return {
        "kernel": found.kernel,
        "case": found.case,
        "machine": found.machine,
        "field": found.field,
        "bound_us": found.bound_us,
        "best": best.value if best else None,
        "host": found.default.value,
        "candidates": [
            {
                "value": one.value,
                "status": one.status,
                "modelled_us": one.modelled_us,
                "ub_bytes": one.ub_bytes,
                "binding": one.binding,
                "waits": one.waits,
                "note": one.note,
                "tiling": one.tile.fields,
            }
            for one in found.candidates
        ],
    }


def _print(found: Tuning, plot: Path | None) -> None:
    best, ours = found.best, found.default
    headers = (found.field, "modelled us", "of the host's", "UB bytes", "binding limit", "longest wait of its pipe", "")
    rows = [_cells(one, found) for one in found.candidates]
    print_table(headers, rows, title=f"{found.kernel} on {found.case}, modelled on {found.machine}")
    if len(found.ran) > 1 and not found.matters:
        print(f"{found.field} makes no difference to {found.kernel} here; --field names another")
    elif best and ours.modelled_us and best.modelled_us:
        gain = ours.modelled_us / best.modelled_us
        print(
            f"fastest: {found.field} = {best.value} with {best.modelled_us:.2f} us; the host function chooses "
            f"{ours.value} with {ours.modelled_us:.2f} us ({gain:.2f} times that); bound {found.bound_us:.2f} us"
        )
    print("Modelled, not measured. Which other fields follow: [[tune]] in the operator's bench.toml.")
    if plot is not None:
        print(f"picture: {plot}")


def _cells(one: Candidate, found: Tuning) -> tuple[str, ...]:
    marks = [word for word, holds in (("fastest", one is found.best), ("host function", one.ours)) if holds]
    said = ", ".join([*marks, *([] if one.status == OK else [f"{one.status}: {one.note}"])])
    if one.modelled_us is None:
        return str(one.value), "", "", "", "", "", said
    ours = found.default.modelled_us
    share = f"{one.modelled_us / ours:.2f}" if ours else ""
    return str(one.value), f"{one.modelled_us:.2f}", share, f"{one.ub_bytes:,}", one.binding, one.waits, said
