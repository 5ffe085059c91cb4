"""The results of a class as one HTML page without scripts: sums, similar texts, every submission with its findings."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from gn_tutorial.course.classroom.judgement import Finding
from gn_tutorial.course.classroom.results import ResultRow, Results
from gn_tutorial.tables import Html, html_table

_STYLE = """
body { font-family: sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; } caption { text-align: left; font-weight: bold; padding: .3em 0; }
th, td { text-align: left; vertical-align: top; padding: .25em .8em .25em 0; border-bottom: 1px solid #ddd; }
pre { margin: .3em 0; overflow-x: auto; } summary { cursor: pointer; } .small { color: #555; font-size: 90%; }
"""
_SHOWN = 200


def page(found: Results, title: str) -> str:
    """Return the HTML page."""
    parts = [f"<h1>{escape(title)}</h1>", f"<p>{escape(summary(found))}</p>", _sums(found), _alike(found)]
    parts += [_aside(found), "<h2>Submissions</h2>", *(_learner(one.learner, found) for one in found.sums)]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(parts) + "\n</body></html>\n"


def summary(found: Results) -> str:
    """Return one line: how many learners, how many submissions, and how many of these have each status."""
    states = ("right", "wrong", "stopped", "undecided", "open", "untouched")
    counted = ", ".join(f"{many} {state}" for state in states if (many := found.count(state)))
    return f"{len(found.sums)} learners, {len(found.rows)} submissions: {counted or 'none'}"


def _sums(found: Results) -> str:
    tasks = list(dict.fromkeys(name for one in found.sums for name in one.points))
    rows = [
        (one.learner, f"{len(one.passed)} of {one.tried}", *(_points(one.points.get(name)) for name in tasks))
        for one in found.sums
    ]
    headers = ("learner", "exercises right", *(f"{name}, of 100" for name in tasks))
    return html_table(headers, rows, caption="Learners")


def _points(points: float | None) -> str:
    return "" if points is None else f"{points:g}"


def _alike(found: Results) -> str:
    if not found.alike:
        return "<p>No texts of different learners are suspiciously equal.</p>"
    rows = [
        (one.item, one.how, f"{one.share:.0%}", one.own, Html("<br>".join(escape(path) for _, path in one.handed_in)))
        for one in found.alike[:_SHOWN]
    ]
    more = len(found.alike) - len(rows)
    caption = "Suspiciously equal: look at them" + (f" ({more} more are in results.json)" if more else "")
    return html_table(("item", "how", "alike", "shingles of their own", "handed in"), rows, caption=caption)


def _aside(found: Results) -> str:
    if not found.aside:
        return ""
    rows = [(one.path, one.why) for one in found.aside[:_SHOWN]]
    more = len(found.aside) - len(rows)
    caption = "Not judged" + (f" ({more} more are in results.json)" if more else "")
    return html_table(("what", "why"), rows, caption=caption)


def _learner(name: str, found: Results) -> str:
    rows = [row for row in found.rows if row.learner == name]
    cells = [
        (row.item, row.status, f"{row.points:g} of {row.of:g}", f"{row.seconds:.1f} s", Html(_findings(row)))
        for row in rows
        if row.status != "untouched"
    ]
    untouched = ", ".join(row.item for row in rows if row.status == "untouched")
    begun = f'<p class="small">not begun: {escape(untouched)}</p>' if untouched else ""
    headers = ("item", "verdict", "points", "time", "file, findings")
    table = html_table(headers, cells) if cells else "<p>nothing judged</p>"
    return f"<details><summary>{escape(name)}: {len(cells)} judged</summary>{table}{begun}</details>"


def _findings(row: ResultRow) -> str:
    place = f'<div class="small">{escape(row.path)}</div>'
    return place + "".join(_finding(one) for one in row.findings)


def _finding(one: Finding) -> str:
    cost = f"-{one.points:g}: " if one.points else ""
    labelled: Iterable[tuple[str, str]] = (("case", one.case), ("where", one.where), ("read", one.read))
    more = "".join(f'<div class="small">{label}: {escape(text)}</div>' for label, text in labelled if text)
    detail = f"<pre>{escape(one.detail)}</pre>" if one.detail else ""
    return f"<div>{cost}{escape(one.what)}</div>{more}{detail}"
