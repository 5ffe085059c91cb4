"""Results as CSV, JSON and a page: nothing that a learner wrote is a formula or HTML there."""

from __future__ import annotations

import csv
import io
import json

from gn_tutorial.course.classroom.judgement import Finding, Judgement
from gn_tutorial.course.classroom.results import Results, results
from gn_tutorial.course.classroom.results_page import page, summary
from gn_tutorial.course.classroom.similarity import Alike
from gn_tutorial.course.classroom.submissions import EXERCISE, TASK, Aside, Camp, Submission, Text

EVIL = '<script>alert("x")</script>'


def made() -> Results:
    texts = {
        "right": Text(EXERCISE, "01.1", {"01_1_group_norm.py": "a"}),
        "wrong": Text(EXERCISE, "03.2", {"03_2_row_mean.cpp": "b"}),
        "first": Text(TASK, "mish", {"op_host/mish.cpp": "c"}, "9.x", "ascend910b"),
        "second": Text(TASK, "mish", {"op_host/mish.cpp": "d"}, "9.x", "ascend910b"),
        "open": Text(EXERCISE, "02.2", {"02_2_ub_budget.toml": "e"}),
    }
    camp = Camp(learners=["=ada", "bob"], aside=[Aside(f"bob/{EVIL}", "it is a link")])
    camp.submissions = [Submission("=ada", f"=ada/{name}", text) for name, text in texts.items()]
    camp.untouched = [Submission("bob", "bob/04", Text(EXERCISE, "04.2", {"04_2_group_tiles.h": ""}))]
    said = {"right": ("right", 1.0, 1.0), "wrong": ("wrong", 0.0, 1.0), "first": ("wrong", 40.5, 100.0)}
    said["second"] = ("right", 97.0, 100.0)
    finding = Finding(f"{EVIL} is off", "+x.cpp:3", detail=EVIL)
    known = {
        texts[name].digest: Judgement(
            texts[name].digest, status, points, of, (finding,) * (status == "wrong"), 1.0, 300.0, "1"
        )
        for name, (status, points, of) in said.items()
    }
    alike = Alike("03.2", "nearly the same", 0.9, 40, (("=ada", f"=ada/{EVIL}"), ("bob", "bob/y")))
    return results(camp, known, [alike])


def test_a_row_for_each_submission_and_a_sum_for_each_learner() -> None:
    found = made()
    assert [(row.item, row.status, row.points) for row in found.rows] == [
        ("01.1", "right", 1.0), ("02.2", "open", 0.0), ("03.2", "wrong", 0.0),
        ("mish", "wrong", 40.5), ("mish", "right", 97.0), ("04.2", "untouched", 0.0),
    ]  # fmt: skip
    ada, bob = found.sums
    assert (ada.passed, ada.tried, ada.points) == (("01.1",), 3, {"mish": 97.0})
    assert (bob.passed, bob.tried, bob.points) == ((), 0, {})
    assert summary(found) == "2 learners, 6 submissions: 2 right, 2 wrong, 1 open, 1 untouched"


def test_the_table_has_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(made().csv())))
    assert len(rows) == 6
    assert rows[0]["learner"] == "'=ada"
    assert rows[2]["where"] == "'+x.cpp:3"
    assert rows[3]["points"] == "40.5"


def test_the_data_are_whole() -> None:
    data = json.loads(json.dumps(made().record()))
    assert {row["item"] for row in data["submissions"]} == {"01.1", "02.2", "03.2", "mish", "04.2"}
    assert data["submissions"][2]["findings"][0]["what"] == f"{EVIL} is off"
    assert data["alike"][0]["handed_in"][1] == ["bob", "bob/y"]


def test_the_page_escapes_everything() -> None:
    html = page(made(), f"camp {EVIL}")
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 5
    assert "-" + "40.5" not in html
    assert "97 of 100" in html
    assert "not begun: 04.2" in html
