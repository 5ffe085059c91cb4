"""``gnt profile`` and ``gnt diff``: from words on a command line to profiles, to tables, pictures and traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gn_tutorial.abi.trace import Tracing
from gn_tutorial.cli.commands import run
from gn_tutorial.cli.terminal import emit_json, print_table, working
from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.profiler.chrome_trace import save_chrome_trace
from gn_tutorial.profiler.diff import Difference, diff
from gn_tutorial.profiler.profile import Profile, profile_of, run_traced
from gn_tutorial.timing.machine import load_machine

#: What ``--picture`` may be, and what it shows.
PICTURES = {
    "pipes": "the pipes of one core over time",
    "cores": "the pipes of every recorded core",
    "ub": "what the Unified Buffer holds when",
    "gm": "which addresses of global memory are touched when",
    "limits": "what the launch cannot be faster than",
    "roofline": "elements per second against elements per byte",
}


@dataclass(frozen=True)
class Question:
    """What to run and on what to model it: the options that ``gnt profile`` and ``gnt diff`` share.

    like: a registered kernel whose arguments a file takes. record: how many blocks to record, or which ones.
    """

    shape: str = ""
    groups: int | None = None
    settings: Sequence[str] = ()
    dtype: str = ""
    arrays: Mapping[str, Sequence[str]] | None = None
    entry: str = ""
    template: str = ""
    types: Sequence[str] = ()
    defines: Sequence[str] = ()
    like: str = ""
    blocks: int | None = None
    seed: int = 0
    machine: str = ""
    warm: bool = False
    record: str = ""


@dataclass(frozen=True)
class View:
    """Which picture to draw. block, window: of those pictures that show one core, and a part of the time."""

    picture: str = "pipes"
    block: int | None = None
    window: str = ""


@dataclass(frozen=True)
class Answer:
    """A profile, what was asked for, and whether the kernel computed the right numbers (None: nobody knows)."""

    profile: Profile
    facts: Mapping[str, Any]
    right: bool | None


def ask(target: str, question: Question) -> Answer:
    """Run and model one kernel. Raises ArgumentError quoting the word that cannot be read, and what a launch raises."""
    machine = load_machine(question.machine) if question.machine else load_machine()
    tracing = parse_record(question.record)
    if run.is_file(target) and not question.like:
        return _ask_file(target, question, machine, tracing)
    only_files = {f"--{name}": words for name, words in (question.arrays or {}).items()}
    only_files |= {"--template": question.template, "--type": question.types, "--define": question.defines}
    run.refuse(question.like or target, {name: list(given) or None for name, given in only_files.items()})
    call = run.parse_call(question.like or target, question.shape, question.groups, question.settings, question.dtype)
    found = Kernel.registered(call.op, call.spec)
    if run.is_file(target):
        path = kernel(Path(target))
        spec = replace(call.spec, file=path.path, entry=path.entry(question.entry or None).name)
        found = Kernel(path.name, path=path.path, op=call.op, spec=spec)
    elif question.like or question.entry:
        raise ArgumentError(f"{'--like' if question.like else '--entry'} belongs to a file, and {target} is registered")
    arrays = call.arrays(question.seed)
    _build(found)
    with working(f"running {found.name}"):
        result = run_traced(found, *arrays.values(), blocks=question.blocks, tracing=tracing, **call.attributes)
        right = result.compare(random_inputs.expected(call.op, arrays, call.attributes), call.spec.tolerance).ok
    with working(f"modelling {found.name}"):
        made = profile_of(result, machine=machine, warm=question.warm)
    return Answer(made, {"shape": call.shape, "dtype": call.dtype, **call.attributes}, right)


def _ask_file(target: str, question: Question, machine: Any, tracing: Tracing | None) -> Answer:
    only_registered = {"--shape": question.shape, "--groups": question.groups, "--dtype": question.dtype}
    run.refuse(target, {**only_registered, "--set": list(question.settings)})
    given = question.arrays or {}
    values = run.parse_values(*(given.get(name, ()) for name in ("arg", "out", "inout", "workspace")), question.seed)
    found = kernel(
        Path(target),
        template=question.template,
        dtypes=run.parse_types(question.types),
        defines=tuple(question.defines),
    )
    _build(found)
    with working(f"running {found.name}"):
        result = run_traced(found, entry=question.entry or None, blocks=question.blocks or 1, tracing=tracing, **values)
    with working(f"modelling {found.name}"):
        return Answer(profile_of(result, machine=machine, warm=question.warm), {"file": target}, None)


def _build(found: Kernel) -> None:
    with working(f"compiling {found.name}"):
        found.build()


def parse_record(text: str) -> Tracing | None:
    """``8``: eight blocks, spread evenly; ``0,5`` or ``5,``: these ones; nothing: None, ``profile`` chooses.

    Raises ArgumentError for words that are no numbers.
    """
    if not text:
        return None
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        numbers = []
    if not numbers:
        raise ArgumentError(f"--record {text}: no blocks", hint="a number of blocks, or which: 0,5")
    return Tracing(blocks=numbers if "," in text else numbers[0])


def parse_window(text: str) -> tuple[float, float] | None:
    """``0.5,2`` -> (0.5, 2.0), in microseconds; nothing: everything. Raises ArgumentError."""
    if not text:
        return None
    try:
        start, end = (float(part) for part in text.split(","))
    except ValueError:
        raise ArgumentError(f"--window {text}: two numbers are needed", hint="from,to in us: --window 0.5,2") from None
    return start, end


def check_files(plot: Path | None, trace: Path | None, view: View) -> None:
    """Raise ArgumentError for files and pictures that cannot be, before anything runs for minutes."""
    if view.picture not in PICTURES:
        raise ArgumentError(f"there is no picture '{view.picture}'", hint=f"one of {', '.join(PICTURES)}")
    parse_window(view.window)
    if plot is None and view != View():
        raise ArgumentError("--picture, --block and --window belong to a picture", hint="--plot FILE.png")
    check_paths(plot, trace)


def check_paths(plot: Path | None, trace: Path | None = None) -> None:
    """Raise ArgumentError for a picture that is no .png, and for a file in a folder that does not exist."""
    if plot is not None and plot.suffix.lower() != ".png":
        raise ArgumentError(f"--plot {plot}: a picture is a .png file")
    for option, path in (("--plot", plot), ("--trace", trace)):
        if path is not None and not path.resolve().parent.is_dir():
            raise ArgumentError(f"{option} {path}: there is no folder {path.parent}")


def draw(profile: Profile, path: Path, view: View) -> None:
    """Write one picture. Raises ArgumentError for a block or a window that the profile does not have."""
    from gn_tutorial.plot.gantt import gantt, gantt_cores
    from gn_tutorial.plot.global_memory import gm_access
    from gn_tutorial.plot.roofline import launch_roofline, limits
    from gn_tutorial.plot.unified_buffer import ub_map

    window = parse_window(view.window)
    one_core: dict[str, Callable[..., Any]] = {"pipes": gantt, "ub": ub_map}
    over_time: dict[str, Callable[..., Any]] = {"cores": gantt_cores, "gm": gm_access}
    if view.block is not None and view.picture not in one_core:
        raise ArgumentError(f"--block: the picture '{view.picture}' is not of one block")
    if window and view.picture not in one_core | over_time:
        raise ArgumentError(f"--window: the picture '{view.picture}' has no time axis")
    if view.picture in one_core:
        made = one_core[view.picture](profile, block=view.block, window=window)
    elif view.picture in over_time:
        made = over_time[view.picture](profile, window=window)
    else:
        made = {"limits": limits, "roofline": launch_roofline}[view.picture](profile)
    made.save(path)


def show(target: str, question: Question, view: View, plot: Path | None, trace: Path | None, *, as_json: bool) -> bool:
    """Profile, write the files, print; returns False if the kernel's numbers are wrong."""
    check_files(plot, trace, view)
    answer = ask(target, question)
    found = answer.profile
    if plot is not None:
        with working(f"drawing {plot}"):
            draw(found, plot, view)
    if trace is not None:
        with working(f"writing {trace}"):
            save_chrome_trace(found, trace)
    if as_json:
        emit_json({**as_dict(found), **answer.facts, "right": answer.right, "plot": plot, "trace": trace})
        return answer.right is not False
    asked = [(name, str(value)) for name, value in answer.facts.items()]
    print_table((), asked + found.facts(), title=f"{found.kernel}, modelled")
    if plot is not None:
        print(f"picture: {plot}")
    if trace is not None:
        print(f"trace: {trace} (open it on ui.perfetto.dev or in MindStudio Insight)")
    return _warn(target, answer)


def show_diff(first: str, second: str, question: Question, plot: Path | None, *, as_json: bool) -> bool:
    """Profile both, print the comparison; returns False if the numbers of either are wrong."""
    check_files(plot, None, View())
    if run.is_file(second) and not run.is_file(first) and not question.like:
        # A learner's file beside the kernel that it was made from: the same arguments.
        answers = [ask(first, question), ask(second, replace(question, like=first))]
    elif question.like:
        answers = [ask(each, question if run.is_file(each) else replace(question, like="")) for each in (first, second)]
    else:
        answers = [ask(each, question) for each in (first, second)]
    found = diff(answers[0].profile, answers[1].profile)
    if plot is not None:
        from gn_tutorial.plot.ladder import ladder

        with working(f"drawing {plot}"):
            ladder([found.first, found.second]).save(plot)
    if as_json:
        emit_json({**_diff_dict(found), "right": [answer.right for answer in answers], "plot": plot})
        return all(answer.right is not False for answer in answers)
    print_table(found.headers, found.cells(), title=found.verdict())
    for note in found.notes:
        print(f"note: {note}")
    if plot is not None:
        print(f"picture: {plot}")
    # Both, even if the first is wrong already.
    right = [_warn(target, answer) for target, answer in zip((first, second), answers, strict=True)]
    return all(right)


def _warn(target: str, answer: Answer) -> bool:
    if answer.right is False:
        print(f"what {target} computes is wrong, so its time says little: gnt run {target}")
    return answer.right is not False


def as_dict(profile: Profile) -> dict[str, Any]:
    """A profile as ``--json`` prints it. Times in us, each key saying so."""
    low, high = profile.likely
    traffic = profile.timeline.traffic
    return {
        "kernel": profile.kernel,
        "machine": profile.machine.name,
        "blocks": profile.blocks,
        "recorded_blocks": sorted(profile.trace.blocks),
        "modelled_us": profile.microseconds,
        "likely_us": [low, high],
        "launch_us": profile.machine.launch_us,
        "busy_us": {pipe.name: time for pipe, time in profile.busy.items()},
        "limits": [limit._asdict() for limit in profile.limits],
        "binding": profile.binding.name,
        "distance": profile.distance,
        "traffic_bytes": traffic._asdict(),
        "tally": profile.tally,
        "stalls": [{**stall._asdict(), "pipe": stall.pipe.name} for stall in profile.stalls],
        "notes": profile.notes,
    }


def _diff_dict(found: Difference) -> dict[str, Any]:
    return {
        "first": found.first.kernel,
        "second": found.second.kernel,
        "machine": found.second.machine.name,
        "rows": [{**row._asdict(), "ratio": row.ratio} for row in found.rows],
        "binding": found.limits,
        "notes": found.notes,
    }
