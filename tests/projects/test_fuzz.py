"""Drawn calls of operator projects: right ones agree with their reference, planted mistakes are found and shrunk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import planted_projects
import pytest
from planted_projects import PROJECTS, planted

from gn_tutorial.errors import ArgumentError
from gn_tutorial.projects.definition import OpDefinition
from gn_tutorial.projects.fuzz import fuzz
from gn_tutorial.projects.fuzz_cases import ArrayPlan, Case, learnt_relations, simpler, size_class
from gn_tutorial.projects.fuzz_report import FuzzFailure, FuzzReport, FuzzState
from gn_tutorial.projects.fuzz_values import kinds_of, make_array
from gn_tutorial.projects.fuzz_verdict import Judge
from gn_tutorial.projects.parameters import OpAttribute, Parameter
from gn_tutorial.projects.project import Project
from gn_tutorial.projects.references import TOLERANCE

SCALE = PROJECTS / "scale_shift"
#: No limit of wall time decides a test: the number of cases does.
LONG = 3600.0
ONE = ArrayPlan("float32", (1,))


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest) -> Path:
    """Where planted projects lie: the same folder in each run, so that the second one compiles nothing."""
    return request.config.cache.mkdir("planted_projects")


def found(project: Path, reference: str = "scale_shift", **how: object) -> FuzzReport:
    return fuzz(project, getattr(planted_projects, reference), **{"seconds": LONG, "examples": 40} | how)


def test_a_right_project_agrees_and_the_next_run_goes_on() -> None:
    state = FuzzState(seed=3)
    first = found(SCALE, state=state, examples=12, max_elements=4000)
    assert first.ok, first
    assert (first.examples, first.total, first.stopped, first.shrinking) == (12, 12, "examples", 0)
    assert sum(tried for tried, _ in first.counts["dtype"].values()) == 12
    again = FuzzState.from_json(json.loads(json.dumps(state.to_json())))
    assert again == state
    second = found(SCALE, state=again, examples=6, max_elements=4000)
    assert second.ok
    assert (second.examples, second.total, second.seed) == (6, 18, 3)
    assert again.rounds >= state.rounds


@pytest.mark.parametrize(
    ("reference", "examples", "ok", "said"),
    [
        ("scale_shift", 1, True, "ScaleShift agrees with scale_shift on 1 case"),
        ("refuses", 20, False, "ScaleShift: nothing was compared, because refuses refused all 20 cases"),
    ],
)
def test_a_case_is_compared_however_soon_the_time_is_over(reference: str, examples: int, ok: bool, said: str) -> None:
    """On a busy machine six seconds were over before the first case, and "refused all 0 cases" was the verdict."""
    report = found(SCALE, reference, seconds=1e-9, examples=99, values=("ordinary",), max_elements=99)
    assert (report.examples, report.stopped, report.ok, report.verdict()) == (examples, "time", ok, said)


@pytest.mark.parametrize(
    ("stopped", "why"), [("examples", "--examples allows none"), ("nothing new", "there are no others")]
)
def test_a_run_without_a_new_case_says_why(stopped: str, why: str) -> None:
    report = FuzzReport("ScaleShift", "scale_shift", 0, 0, 9, 0, 1.0, 0.0, stopped, ())
    assert not report.ok
    assert report.verdict().startswith(f"ScaleShift: no new case was tried, because {why}")


def test_one_dtype_of_several() -> None:
    report = found(SCALE, dtypes=("float16",), examples=8, max_elements=99)
    assert {dtype: tried for dtype, (tried, _) in report.counts["dtype"].items()} == {"float16": 8}


@pytest.mark.thorough
def test_several_mistakes_at_once_are_told_apart_and_shrunk(folder: Path) -> None:
    project = planted(folder, "rank", "empty", "dtype", "nan")
    report = found(project, examples=200, failures=4)
    assert report.stopped == "failures"
    smallest = {one.group: one.case for one in report.failures}
    assert smallest.keys() >= {"tiling refused", "wrong numbers"}
    assert len(smallest["tiling refused"].inputs[0].shape) == 3
    assert smallest["wrong numbers"].inputs[0].dtype == "float32"
    for group in ("wrong numbers: NaN or infinity", "tiling crash"):
        if group in smallest:
            assert smallest[group].weight() <= (2, 3, 1, 1, 99)
    assert all(sum(map(len, (one.shape for one in case.inputs))) <= 3 for case in smallest.values())
    assert not report.ok
    assert "fails in 4 ways" in report.verdict()


EACH = [
    ("aligned", "scale_shift", "finding: copy-not-whole-blocks", (1,)),
    ("tail", "scale_shift", "wrong numbers: NaN or infinity", (1,)),
    ("rank", "scale_shift", "tiling refused", (1, 1, 1)),
    ("axis", "scale_shift", "", (1, 2)),
    ("dtype", "scale_shift", "wrong numbers", (1,)),
    ("default", "scale_shift_of_two", "wrong numbers", (1,)),
    ("attribute", "scale_shift", "wrong numbers", (1,)),
    ("empty", "scale_shift", "tiling crash", (0,)),
    ("nan", "scale_shift", "wrong numbers: NaN or infinity", (1,)),
    ("compile", "scale_shift", "compile: float16", (1,)),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("mistake", "reference", "group", "shape"), EACH, ids=[one[0] for one in EACH])
def test_each_mistake_is_found_and_shrunk(
    folder: Path, mistake: str, reference: str, group: str, shape: tuple[int, ...]
) -> None:
    report = found(planted(folder, mistake), reference, examples=300, failures=1)
    (one,) = report.failures
    assert one.group == group or not group
    assert one.case.inputs[0].shape == shape or (len(shape) == 1 and one.case.inputs[0].shape == ())
    assert len(one.case.attributes) == (mistake == "attribute")


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["row_max", "row_bias"])
def test_right_projects_agree(name: str) -> None:
    report = found(PROJECTS / name, name, examples=150, max_elements=4096)
    assert report.ok, report
    assert report.compared > 50


def test_what_failed_is_tried_first_and_forgotten_once_it_is_right() -> None:
    broken = FuzzFailure("wrong numbers", "wrong numbers", "y[0] is 0", Case((ONE,)), 4)
    state = FuzzState(seed=1, rounds=2, examples=70, sources="other", failures={broken.group: broken})
    report = found(SCALE, state=state, examples=0)
    assert report.mended == (broken,)
    assert (report.failures, report.total, state.failures) == ((), 0, {})
    assert not report.ok, "nothing was compared"


@pytest.mark.thorough
def test_a_refusal_is_no_failure_if_the_reference_refuses_too() -> None:
    judge = Judge(Project(PROJECTS / "row_max"), planted_projects.row_max, TOLERANCE)
    assert judge(Case((ONE,))).status == "refused by both"
    assert judge(Case((ArrayPlan("float32", (1, 30000)),))).group == "tiling refused"
    assert judge(Case((ArrayPlan("float32", (2, 3)),))).status == "passed"


def test_a_reference_of_another_shape_or_type_is_a_failure() -> None:
    project = Project(PROJECTS / "row_max")
    kept = Judge(project, lambda x: x.max(axis=-1, keepdims=True), TOLERANCE)
    assert kept(Case((ArrayPlan("float32", (2, 3)),))).group == "wrong shape"
    flags = Judge(project, lambda x: x.max(axis=-1) > 0, TOLERANCE)
    assert flags(Case((ArrayPlan("float32", (2, 3)),))).group == "wrong dtype"


def test_numbers_beyond_the_range_of_an_output_are_infinity() -> None:
    judge = Judge(Project(SCALE), planted_projects.scale_shift, TOLERANCE)
    for values in kinds_of("float16"):
        case = Case((ArrayPlan("float16", (37,), values),), (("alpha", 100.0), ("beta", -3.0)))
        assert judge(case).status == "passed", case


def test_simpler_calls_differ_in_one_thing() -> None:
    plan = ArrayPlan("float32", (3, 1), "nan")
    found_ones = list(simpler(Case((plan,), (("n", 2),), 5)))
    assert Case((plan,), (("n", 2),), 0) in found_ones
    assert Case((plan,), (), 5) in found_ones
    assert Case((ArrayPlan("float32", (3, 1)),), (("n", 2),), 5) in found_ones
    assert Case((ArrayPlan("float32", (3,), "nan"),), (("n", 2),), 5) in found_ones
    assert list(simpler(Case((None, ONE)))) == []


def two_inputs() -> OpDefinition:
    return OpDefinition("Op", inputs=(Parameter("x"), Parameter("y")), attributes=(OpAttribute("n", "int"),))


def test_how_shapes_agree_is_learnt_from_the_reference() -> None:
    def rows(case: Case) -> bool:
        x, y = case.inputs
        assert case.attributes == (("n", 1),)
        return y.shape == x.shape[-1:]

    assert learnt_relations(two_inputs(), ("float32", "float16"), rows) == (("same",), ("last",))
    assert learnt_relations(two_inputs(), ("float32", "float32"), rows, ("last", "one")) == (("last",),)
    assert len(learnt_relations(two_inputs(), ("float32", "float32"), lambda case: False)) == 7


def test_inputs_of_several_shapes_are_pointed_out() -> None:
    two = FuzzFailure("finding", "finding", "behind the end", Case((ONE, ArrayPlan("float32", (1, 1)))))
    same = FuzzFailure("crash", "crash", "it died", Case((ONE, ONE)))
    facts = ("Op", "reference", 0, 9, 9, 0, 1.0, 0.0, "time")
    assert "--shapes same" in FuzzReport(*facts, failures=(two,)).hint()
    assert FuzzReport(*facts, failures=(two, same)).hint() == ""
    assert "behind the end" in repr(FuzzReport(*facts, failures=(two, same)))


@pytest.mark.parametrize(
    ("dtype", "shape", "expected"),
    [
        ("float32", (3, 0), "empty"),
        ("float32", (), "single"),
        ("float16", (3, 5), "tail"),
        ("float16", (16,), "aligned"),
        ("float32", (8193,), "large"),
    ],
)
def test_sizes_have_classes(dtype: str, shape: tuple[int, ...], expected: str) -> None:
    assert size_class(ArrayPlan(dtype, shape)) == expected


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "uint8", "int64", "bool"])
def test_every_kind_of_values_is_what_it_says(dtype: str) -> None:
    for kind in kinds_of(dtype):
        for shape in ((), (0,), (5, 7)):
            array = make_array(kind, shape, dtype, np.random.default_rng(1))
            assert (array.dtype.name, array.shape) == (dtype, shape)
            wide = array.astype(np.float64)
            if kind == "nan":
                assert np.isnan(wide).any() == bool(array.size)
            elif kind == "infinity":
                assert np.isinf(wide).any() == bool(array.size)
            else:
                assert np.isfinite(wide).all()
            assert kind != "negative" or (wide <= 0).all()
            assert kind != "equal" or len(np.unique(wide)) <= 1


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"seconds": 0}, "seconds cannot be 0"),
        ({"dtypes": ("int4",)}, "no input of ScaleShift is int4"),
        ({"values": ("huge",)}, "there is no kind of values 'huge'"),
        ({"relations": ("any",)}, "there is no relation 'any'"),
        ({"max_elements": 0}, "max_elements cannot be 0"),
    ],
)
def test_refusals(how: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        found(SCALE, **how)


def test_a_state_of_another_version_is_refused() -> None:
    with pytest.raises(ArgumentError, match="cannot be read") as caught:
        FuzzState.from_json({"version": 99})
    assert "--restart" in caught.value.hint
