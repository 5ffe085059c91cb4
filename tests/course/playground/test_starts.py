"""What a learner starts from in the page."""

from __future__ import annotations

from pathlib import Path

from gn_tutorial.course.playground.starts import program_starts

ROOT = Path(__file__).resolve().parents[3]


def test_a_wrong_program_does_not_name_its_mistake_and_keeps_its_lines() -> None:
    starts = {one["id"]: one for one in program_starts(ROOT)}
    assert len(starts) > 300
    for name, one in starts.items():
        file = (ROOT / "tests" / "programs" / f"{name}.cpp").read_text(encoding="utf-8")
        assert one["text"].count("\n") == file.count("\n")
        assert "expect:" not in one["text"]
        assert one["finding"] == "" or f"// expect: {one['finding']}" in file
    assert starts["queue/empty_bad"]["finding"] == "queue-empty"
    assert "a = queue.DeQue<float>();\n" in starts["queue/empty_bad"]["text"]
