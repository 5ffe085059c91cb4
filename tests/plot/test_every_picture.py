"""The rules for every picture of the package: colours, type, width, room for every word, and its stored form."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from picture_support import two_tiles
from PIL import Image

import gn_tutorial.plot as plot
from gn_tutorial.compare.accuracy import Accuracy
from gn_tutorial.course.classroom.class_report import ClassReport, LearnerStanding
from gn_tutorial.course.classroom.progress_export import Export
from gn_tutorial.course.exam.attempt import Attempts
from gn_tutorial.course.exam.bank import load_bank
from gn_tutorial.course.exam.goals import MATHEMATICS, load_goals
from gn_tutorial.course.exam.goals_report import GoalsReport
from gn_tutorial.course.exam.objective_progress import Learned, propose, standings
from gn_tutorial.course.exercises.registry import load_course
from gn_tutorial.course.progress import Progress
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.plot.picture import STYLE, WIDTH, Picture, tour_picture
from gn_tutorial.profiler.bench.autotune import REFUSED, Candidate, Tuning
from gn_tutorial.profiler.bench.fusion_gain import FusionGain
from gn_tutorial.profiler.bench.run import OK, Bench, BenchRow
from gn_tutorial.profiler.palette import PIPE_COLOURS
from gn_tutorial.profiler.profile import Profile
from tests.plot.test_picture import tour_data

# Pixels of the smallest letter's size where a picture is 800 pixels wide: a web page's small print.
LEAST_TYPE = 9.0
# As long as names of the course get.
KERNEL = "group_norm_backward/double_buffered"
FILE = Path(__file__).parents[1] / "programs" / "race" / "refill_too_early_bad.cpp"


def launch(blocks: int = 8, kernel: str = KERNEL) -> Profile:
    return two_tiles(blocks, kernel=kernel, file="group_norm_backward_3_double_buffered.cpp", launched=48)


def bench() -> Bench:
    rows = [
        BenchRow(
            f"group_norm/step{step}", step, f"({n},320,64,64) G32 float32", "own", (n,), {}, "float32", OK, blocks=48,
            modelled_us=n * 40.0 / step, bound_us=n * 3.0, binding="scalar unit", binding_us=n * 8.0 / step,
        )
        for n in (1, 4, 64)
        for step in range(1, 8)
    ]  # fmt: skip
    return Bench("group_norm", "Ascend 910B2", tuple(rows))


def tuning(case: str) -> Tuning:
    ran = tuple(Candidate(2**n, OK, None, n == 11, modelled_us=80.0 / n) for n in range(7, 13))
    refused = tuple(Candidate(2**n, REFUSED, None, False, note="does not fit") for n in (13, 14))
    return Tuning("group_norm/vectorised", case, "Ascend 910B2", "tileElements", ran + refused, 3.0)


def accuracy() -> Picture:
    good = Accuracy("float16", 10, 2.0**-11, 2.0**-9, 2.0**-9, 0, 0)
    bad = Accuracy("float16", 10, 2.0**-11, 30 * 2.0**-10, 30 * 2.0**-10, 0, 0)
    near = Accuracy("float32", 90, 0.0, 0.0, 0.0, 90, 50)
    kinds = ("noise", "mean 100", "mean 10,000", "up to 60,000", "σ = 0.001", "tiny", "constant")
    ways = ("float16 all the way", "sums in float32", "step 4, cast to float32")
    found = {way: {kind: (good, bad, near)[(a + b) % 3] for b, kind in enumerate(kinds)} for a, way in enumerate(ways)}
    return plot.accuracy_map({"float16": found, "bfloat16": found, "float32": found})


def bits() -> Picture:
    rng = np.random.default_rng(3)
    truth = rng.standard_normal(64) + 2.0
    still = np.tile(truth.astype(np.float32), (8, 1))
    moving = (truth + rng.normal(0, 1e-6, (8, 64))).astype(np.float32)
    return plot.bits_over_orders({"atomic, 48 cores": moving, "two stages": still, "Kahan": moving}, truth)


def report() -> GoalsReport:
    known = Learned(Progress({one.id: "2026-01-02" for one in load_course() if one.notebook < "06"}), Attempts())
    found = standings(load_goals(), known)
    topics = {MATHEMATICS: "Mathematics"} | {one.name: one.title for one in load_bank().topics}
    return GoalsReport(found, propose(found, known), topics)


def whole_class() -> ClassReport:
    """Of learners who got as far as notebook 03, 06 and 11."""
    made = []
    for notebook in ("03", "06", "11"):
        passed = {one.id: "2026-01-02" for one in load_course() if one.notebook <= notebook}
        known = Learned(Progress(passed), Attempts())
        export = Export(notebook, "2026-01-02T00:00:00+00:00", "1", known)
        made.append(LearnerStanding(notebook, export, standings(load_goals(), known)))
    return ClassReport(tuple(made), ())


def fault() -> Diagnostic:
    facts = {"op": "Adds", "pipe": "PIPE_V", "other_op": "DataCopy", "other_pipe": "PIPE_MTE2", "offset": 0}
    places = {"buffer_file": str(FILE), "buffer_line": 10, "other_file": str(FILE), "other_line": 16}
    return Diagnostic("race-read-after-write", "error", str(FILE), 17, 3, facts | places)


RATIOS = [1.0, 10.0, 100.0, 1e3, 1e4]
CEILINGS = {"vector": plot.Ceiling("vector units", 5.9e12), "scalar": plot.Ceiling("scalar units", 16e9)}
SIXTEEN = {"one-sided": [1e-1, 1e-3, 1e-5, 1e-3, 1e-1], "central, float32": [1e-2, 1e-4, 1e-6, 1e-4, 1e-2]}

#: By name; the names are those of gnt.plot, a word behind a dash tells two cases of one function apart.
CASES: dict[str, Callable[[], Picture]] = {
    "accuracy_map": accuracy,
    "bits_over_orders": bits,
    "block_map": lambda: plot.block_map([(n, 2048 * n, 2048) for n in range(8)], 16384),
    "bounds_and_times": lambda: plot.bounds_and_times(bench()),
    "bounds_roofline": lambda: plot.bounds_roofline(
        {"GroupNorm, scalar": (0.8, "scalar"), "GroupNorm": (1.2, "vector")}, CEILINGS, 1.5e12, "published figures"
    ),
    "class_goals": lambda: plot.class_goals(whole_class()),
    "compare_losses": lambda: plot.compare_losses(
        {"nn.GroupNorm": np.linspace(2, 0.1, 50), "gnt": np.linspace(2, 0.2, 50)}
    ),
    "copy_order": lambda: plot.copy_order([("in", 0, 9), ("in", 9, 9), ("out", 0, 9), ("out", 9, 9)], [0, 18]),
    "core_balance": lambda: plot.core_balance({f"T = {t}": [t / -(-t // c) for c in range(1, 49)] for t in (32, 320)}),
    "finding": lambda: plot.finding(fault()),
    "fusion": lambda: plot.fusion(FusionGain("swiglu", (launch(), launch(4)), launch(kernel="a/fused"), (1e-3, 5e-4))),
    "gantt": lambda: plot.gantt(launch()),
    "gantt-window": lambda: plot.gantt(launch(), window=(0.1, 0.4)),
    "gantt_cores": lambda: plot.gantt_cores(launch()),
    "gantt_launches": lambda: plot.gantt_launches(launch(), launch(2, "tiled, 2 buffers")),
    "gm_access": lambda: plot.gm_access(launch()),
    "goals": lambda: plot.goals(report()),
    "ladder": lambda: plot.ladder([launch(1), launch(8), launch(4)]),
    "ladder_of": lambda: plot.ladder_of(bench(), bench().cases[0]),
    "launch_roofline": lambda: plot.launch_roofline(launch(1), launch(2), launch(4), launch(8)),
    "limits": lambda: plot.limits(launch()),
    "shares": lambda: plot.shares(bench()),
    "step_errors": lambda: plot.step_errors(
        [1e-8, 1e-6, 1e-4, 1e-2, 1], SIXTEEN, {"h²": [1e-16, 1e-12, 1e-8, 1e-4, 1]}
    ),
    "tile_stairs": lambda: plot.tile_stairs(
        {256: launch(1), 1024: launch(2), 4096: launch(4)}, elements=999, chosen=1024
    ),
    "time_against_cores": lambda: plot.time_against_cores([two_tiles(n, kernel=KERNEL) for n in (1, 2, 4, 8)]),
    "tour": lambda: tour_picture(tour_data()),
    "tuning_curve": lambda: plot.tuning_curve(tuning("(2,320,64,64) G32 float32")),
    "tuning_curves": lambda: plot.tuning_curves([tuning(f"({n},320,64,64) G32 float32") for n in (1, 2, 4)]),
    "ub_map": lambda: plot.ub_map(launch()),
    "variance_errors": lambda: plot.variance_errors(RATIOS, {"one pass": [r**2 * 1e-7 for r in RATIOS], "two": RATIOS}),
    "vector_core": plot.vector_core,
}
#: Those in which the pipes themselves are drawn.
OF_PIPES = {
    "copy_order",
    "fusion",
    "gantt",
    "gantt_cores",
    "gantt_launches",
    "limits",
    "tile_stairs",
    "ub_map",
    "vector_core",
}


@cache
def drawn(name: str) -> Picture:
    picture = CASES[name]()
    with matplotlib.rc_context(STYLE):
        picture.figure.draw_without_rendering()
    return picture


def texts(figure: Figure) -> list[Text]:
    """Return the visible texts. Matplotlib keeps a few empty ones for each axis."""
    found = [one for one in figure.findobj(Text) if one.get_text().strip() and one.get_visible()]
    hidden = {id(label) for axes in figure.axes for one in (axes.xaxis, axes.yaxis) for label in _hidden(one, axes)}
    return [one for one in found if id(one) not in hidden]


def _hidden(axis: Axis, axes: Axes) -> Iterator[Text]:
    """Labels of marks that lie outside of what is shown, or are switched off."""
    shown = set(map(id, axis._update_ticks())) if axes.axison else set()
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        if id(tick) not in shown or not tick.get_visible():
            yield from (tick.label1, tick.label2)


def test_each_function_of_the_door_has_a_case() -> None:
    functions = {name for name in plot.__all__ if name.islower()} - {"timeline"}  # a picture of gantt's
    assert {name.partition("-")[0] for name in CASES} == functions | {"tour"}


@pytest.mark.parametrize("name", CASES)
def test_it_is_readable_800_pixels_wide(name: str) -> None:
    figure = drawn(name).figure
    width = figure.get_size_inches()[0]
    assert width <= WIDTH or name == "tour"
    small = {one.get_text(): one.get_fontsize() for one in texts(figure)}
    assert {text: size for text, size in small.items() if size * 800 / 72 / width < LEAST_TYPE} == {}


@pytest.mark.parametrize("name", CASES)
def test_no_word_is_cut_off_and_none_covers_another(name: str) -> None:
    figure = drawn(name).figure
    page = Bbox.from_bounds(-1, -1, figure.bbox.width + 2, figure.bbox.height + 2)
    places = []
    for one in texts(figure):
        axis = one.axes
        if one.get_clip_on() and axis is not None and not axis.bbox.overlaps(one.get_window_extent()):
            continue
        box = one.get_window_extent()
        assert page.contains(*box.min), f"{one.get_text()!r} is cut off"
        assert page.contains(*box.max), f"{one.get_text()!r} is cut off"
        # A line's box has room above and below its letters.
        places.append((one.get_text(), box.padded(-min(1.5, box.height / 4))))
    covered = [(a, b) for (a, one), (b, other) in combinations(places, 2) if one.overlaps(other)]
    assert covered == []


def colours(artist: Artist) -> Iterator[str]:
    for getter in ("get_facecolor", "get_edgecolor", "get_color"):
        if hasattr(artist, getter):
            value = getattr(artist, getter)()
            if value is None or (isinstance(value, str) and value in ("none", "auto")):
                continue
            for one in np.atleast_2d(matplotlib.colors.to_rgba_array(value)):
                yield matplotlib.colors.to_hex(one).upper()


@pytest.mark.parametrize("name", sorted({name for name in CASES if name.partition("-")[0] not in OF_PIPES}))
def test_a_pipe_s_colour_stands_for_nothing_else(name: str) -> None:
    pipes = {colour.upper(): pipe.name for pipe, colour in PIPE_COLOURS.items()}
    for artist in drawn(name).figure.findobj(Artist):
        for colour in colours(artist):
            assert colour not in pipes, f"{artist} has the colour of {pipes[colour]}"


def test_limits_have_the_colours_of_their_pipes_and_the_total_is_grey() -> None:
    profile = launch()
    (axis,) = drawn("limits").figure.axes
    names = [label.get_text() for label in axis.get_yticklabels()]
    bars = dict(zip(names, (next(colours(bar)) for bar in axis.patches), strict=True))
    assert set(names) == {"modelled time", *(one.name for one in profile.limits if one.amount)}
    of = {pipe.name: colour.upper() for pipe, colour in PIPE_COLOURS.items()}
    for limit, pipe in (("MTE2", "MTE2"), ("MTE3", "MTE3"), ("vector unit", "V"), ("scalar unit", "S")):
        assert bars[limit] == of[pipe]
    red, green, blue = matplotlib.colors.to_rgb(bars["modelled time"])
    assert red == green == blue


def test_the_stored_png_has_two_pixels_for_each_that_is_shown_on_white_paper() -> None:
    for name in ("gantt", "accuracy_map", "tour"):
        data, metadata = drawn(name)._repr_mimebundle_()
        shown = metadata["image/png"]
        with Image.open(io.BytesIO(data["image/png"])) as image:
            assert image.width == pytest.approx(2 * shown["width"], abs=2)
            assert image.height == pytest.approx(2 * shown["height"], abs=2)
            # Opaque, or dark ink would lie on a dark theme's page.
            corners = [
                image.convert("RGBA").getpixel((x, y)) for x in (0, image.width - 1) for y in (0, image.height - 1)
            ]
        assert corners == [(255, 255, 255, 255)] * 4
        assert shown["width"] <= 800 or name == "tour"


@pytest.mark.parametrize("name", ["gantt", "gantt_cores", "gantt_launches", "vector_core"])
def test_fewer_colours_leave_those_of_the_pipes_as_they_are(name: str) -> None:
    with Image.open(io.BytesIO(drawn(name)._repr_mimebundle_()[0]["image/png"])) as image:
        assert image.mode == "P"
        found = {colour: count for count, colour in image.convert("RGB").getcolors()}
    for colour in PIPE_COLOURS.values():
        red, green, blue = (round(255 * part) for part in matplotlib.colors.to_rgb(colour))
        assert found.get((red, green, blue), 0) > 500


def test_a_photograph_keeps_all_its_colours() -> None:
    with Image.open(io.BytesIO(drawn("tour")._repr_mimebundle_()[0]["image/png"])) as image:
        assert image.mode == "RGB"


def test_the_scalar_unit_s_time_in_a_gantt_chart_is_what_it_is_called_busy() -> None:
    """Its boxes and its issues, as they are drawn, add up to the words beside the lane."""
    profile = launch(1)
    (axis,) = plot.gantt(profile, block=0).figure.axes
    ranges = []
    for collection in axis.collections:
        if collection.get_gid() in ("S", "S issues"):
            ranges += [path.get_extents() for path in collection.get_paths()]
    drawn_us = sum(one.width for one in ranges)
    assert drawn_us == pytest.approx(profile.busy[next(iter(PIPE_COLOURS))], rel=1e-6)
