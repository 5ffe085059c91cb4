"""Judges a learner's lines of a puzzle in the page: right or not, with the notebook's sentences about mistakes.

The module runs in Pyodide, without NumPy, so it cannot recognise the mistakes whose ``when`` reads an array's numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gn_tutorial.course.mistakes import WrongAnswer, code_of, names_of, recognised
from gn_tutorial.course.playground.outcome import Modelled

#: The names that ``names_of`` can return here.
_NAMES = {"text", "said", "ops", "together"}
_CHANGED = "The lines around the puzzle's were changed: the notebook takes only those that you write between them."
_MORE = "The notebook's check of this puzzle looks at the numbers for one mistake more, which this page does not."


def of_start(wrong: Sequence[WrongAnswer], before: str, after: str) -> dict[str, Any]:
    """Return a puzzle's part of a start (``starts.py``). before, after: the kernel's text around the learner's lines.

    In the result, line: the number of the learner's first line. more: whether the notebook also refuses right numbers
    for a mistake that is not recognised here.
    """
    here = [one for one in wrong if _asked(one)]
    told = [{"finding": one.finding, "when": one.when, "say": one.say, "right": one.right} for one in here]
    more = any(one.right for one in wrong if not _asked(one))
    return {"before": before, "after": after, "line": before.count("\n") + 1, "wrong": told, "more": more}


def judged(puzzle: Mapping[str, Any], text: str, shown: Mapping[str, Any], modelled: Modelled | None) -> dict[str, Any]:
    """Return ``right``, ``begun`` and ``said``, a sentence or "". shown: from ``outcome``. text: the whole kernel."""
    lines = _lines(puzzle, text)
    if lines is None or not code_of(lines):
        return {"right": False, "begun": lines is None, "said": _CHANGED if lines is None else ""}
    findings, wrong = shown["findings"], [one["text"] for one in shown["numbers"] if not one["right"]]
    first = next((one for one in findings if one["severity"] == "error"), next(iter(findings), None))
    right = not (shown["ended"] or findings or wrong)
    said = first["what"] if first else " ".join(wrong)
    trace, timeline = (modelled.trace, lambda: modelled.timeline) if modelled else (None, None)
    names = names_of(lines, said, trace, timeline)
    mistake = recognised(_wrong(puzzle), names, right=right, finding=first["id"] if first else "")
    if mistake:
        return {"right": False, "begun": True, "said": mistake.say}
    return {"right": right, "begun": True, "said": _MORE if right and puzzle["more"] else ""}


def mistake_of(puzzle: Mapping[str, Any], text: str, said: str) -> str:
    """Return the sentence on a mistake that the compiler refused; "" for an unknown one. said: the error's message."""
    lines = _lines(puzzle, text)
    if lines is None:
        return ""
    found = recognised(_wrong(puzzle), names_of(lines, said, None, None), right=False)
    return found.say if found else ""


def _asked(one: WrongAnswer) -> bool:
    names = {node.id for node in ast.walk(ast.parse(one.when or "0", mode="eval")) if isinstance(node, ast.Name)}
    return names <= _NAMES


def _wrong(puzzle: Mapping[str, Any]) -> Iterator[WrongAnswer]:
    return (WrongAnswer(name="", lines="", **one) for one in puzzle["wrong"])


def _lines(puzzle: Mapping[str, Any], text: str) -> str | None:
    """Return the learner's part of the kernel; None if the text around it was changed."""
    before, after = puzzle["before"], puzzle["after"].rstrip()
    kernel = text.rstrip()
    fits = kernel.startswith(before) and kernel.endswith(after) and len(kernel) >= len(before) + len(after)
    return kernel[len(before) : len(kernel) - len(after)] if fits else None
