"""Verdicts on rows made by hand: met, missed and by how much, not run; the worst; what is below its bound."""

from __future__ import annotations

from bench_support import bench, row

from gn_tutorial.profiler.bench.grid import Target
from gn_tutorial.profiler.bench.run import FAILED, SKIPPED, WRONG
from gn_tutorial.profiler.bench.targets import below_bound, judge, judged_rows, worst

SHARE = Target("share", "share of bound", ("large",), least=0.8)
AT_MOST = Target("most", "at most", factor=3, plus_us=3)
MEASURED = Target("measured", "against measured", factor=0.7, below_us=12, times=1.25, of_shapes=2)


def test_share_of_bound_is_met_at_the_limit_and_missed_beyond() -> None:
    rows = row("op/a", "s", 12.5), row("op/a", "t", 11.0), row("op/a", "small", 99.0, kind="other")
    (met,) = judge(bench(*rows), [SHARE])
    assert (met.met, met.word) == (True, "met")
    assert "2 of 2; farthest: 80% where it is at least 80%, at s" in met.found
    (missed,) = judge(bench(*rows, row("op/a", "u", 20.0)), [SHARE])
    assert (missed.met, missed.missed) == (False, ("u",))
    assert "2 of 3; farthest: 50% where it is at least 80%, at u" in missed.found


def test_at_most_counts_from_each_rows_own_bound() -> None:
    rows = row("op/a", "s", 33.0, 10.0), row("op/a", "t", 33.1, 10.0), row("op/a", "u", 33.1, 11.0)
    (verdict,) = judge(bench(*rows), [AT_MOST])
    assert verdict.missed == ("t",)
    assert "33.10 us where it is at most 33.00 us, at t" in verdict.found


def test_the_last_kernel_that_takes_the_dtype_is_judged() -> None:
    rows = (
        row("op/a", "s", 10.5, step=1),
        row("op/b", "s", 20.0, step=2),
        row("op/c", "s", None, step=3),
        row("op/c", "half", None, step=3),
        row("op/c", "full", 10.0, instead_of="float16"),
    )
    assert [(one.kernel, one.case) for one in judged_rows(bench(*rows))] == [("op/b", "s"), ("op/c", "half")]
    assert judge(bench(*rows), [SHARE])[0].missed == ("s", "half")


def test_wrong_and_failed_rows_miss_and_skipped_ones_do_not_count() -> None:
    right = row("op/a", "s", 10.0)
    for bad in (row("op/a", "t", 10.0, status=WRONG), row("op/a", "t", status=FAILED)):
        assert judge(bench(right, bad), [SHARE])[0].missed == ("t",)
    assert judge(bench(right, row("op/a", "t", status=SKIPPED)), [SHARE])[0].met
    (nothing,) = judge(bench(row("op/a", "t", status=SKIPPED)), [SHARE])
    assert (nothing.met, nothing.word) == (None, "not run")


def test_against_measured_makes_short_kernels_longer() -> None:
    rows = (
        row("op/a", "s", 14.0, measured_us=20.0),  # 0.70
        row("op/a", "t", 8.0, measured_us=14.0),  # 8 x 1.25 / 14 = 0.71
        row("op/a", "u", 7.0, measured_us=14.0),  # 7 x 1.25 / 14 = 0.63
        row("op/a", "v", 1.0),
    )
    (verdict,) = judge(bench(*rows), [MEASURED])
    assert (verdict.met, verdict.missed) == (True, ("t",))
    assert verdict.found == "2 of 3: s 0.70; t 0.71; u 0.62"
    (missed,) = judge(bench(*rows[:2]), [MEASURED])
    assert missed.met is False


def test_a_shape_that_was_measured_and_cannot_be_run_is_missed() -> None:
    (verdict,) = judge(bench(row("op/a", "s", None, measured_us=20.0)), [MEASURED])
    assert (verdict.met, verdict.found) == (False, "0 of 1: s not supported")


def test_speed_up_needs_both_kernels_on_the_shape() -> None:
    target = Target("faster", "speed-up", kernel="op/b", over="op/a", least=10)
    rows = row("op/a", "s", 200.0), row("op/b", "s", 20.0), row("op/a", "t", 90.0), row("op/b", "t", 10.0)
    (verdict,) = judge(bench(*rows), [target])
    assert (verdict.met, verdict.missed) == (False, ("t",))
    assert verdict.found == "1 of 2; 9.0 x at t to 10.0 x at s"
    assert judge(bench(rows[0]), [target])[0].word == "not run"


def test_speed_up_may_be_about_one_kind_of_bound() -> None:
    target = Target("faster", "speed-up", bound="two reads", kernel="op/b", over="op/a", least=10)
    pair = row("op/a", "s", 200.0), row("op/b", "s", 20.0, bound_kind="two reads")
    other = row("op/a", "t", 90.0), row("op/b", "t", 10.0)
    (verdict,) = judge(bench(*pair, *other), [target])
    assert (verdict.met, verdict.found) == (True, "1 of 1; 10.0 x at s to 10.0 x at s")
    assert judge(bench(*other), [target])[0].word == "not run"


def test_no_slower_than_it_was_is_held_on_each_shape_and_on_its_machine_only() -> None:
    target = Target("as it was", "as it was", factor=1.03, machine="Ascend 910B2")
    rows = row("op/a", "s", 103.0, was_us=100.0), row("op/a", "t", 99.0, was_us=100.0), row("op/a", "u", 500.0)
    (met,) = judge(bench(*rows, machine="Ascend 910B2"), [target])
    assert (met.met, met.found) == (True, "2 of 2; farthest: 103.00 us where it is at most 103.00 us, at s")
    slower = row("op/a", "t", 105.0, was_us=100.0)
    assert judge(bench(rows[0], slower, machine="Ascend 910B2"), [target])[0].missed == ("t",)
    assert judge(bench(slower, machine="Ascend 910B4"), [target])[0].word == "not run"


def test_the_worst_come_first_and_are_ten() -> None:
    rows = [row("op/a", f"s{number}", 10.0 + number) for number in range(12)]
    listed = worst(bench(*rows))
    assert [one.case for one in listed] == [f"s{number}" for number in range(11, 1, -1)]


def test_a_time_below_the_bound_is_found() -> None:
    rows = row("op/a", "s", 10.0), row("op/a", "t", 9.99)
    assert [one.case for one in below_bound(bench(*rows))] == ["t"]
