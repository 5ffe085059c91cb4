"""Functions that call themselves at run time, at once or through others: CANN supports none, and a launch stops.

Source: asc-devkit, docs/zh/guide, 技术附录/CPP标准支持/语法限制/特性.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gn_tutorial.cpp.code_parts import CodePart
from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.names import qualification
from gn_tutorial.cpp.syntax import Node


def recursion(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at the first call of each function that leads back to the function."""
    calls = [
        (part, callee, call) for part, name, call in code.own_calls if (callee := _by_name(code, part, name, call))
    ]
    # Names alone lead few functions back to themselves. Only for those it is asked what their calls mean.
    by_name = _without_ends(_graph(one[:2] for one in calls))
    circular = {part for part in by_name if _leads(by_name, part, part)}
    calls = [one for one in calls if circular.issuperset(one[:2]) and code.callee(one[2]) is one[1]]
    certain = _graph(one[:2] for one in calls if code.is_live(one[2]))
    told: set[CodePart] = set()
    for part, callee, call in calls:
        name = code.called_name(call)
        if name is not None and part not in told and (callee is part or _leads(certain, callee, part)):
            told.add(part)
            yield code.finding("recursion", name, name=part.name, op=callee.name)


def _by_name(code: DeviceCode, part: CodePart, name: str, call: Node) -> CodePart | None:
    """Return the only function that a call may mean by the names of classes; None if there are several."""
    leaf = code.called_name(call)
    path = qualification(leaf, code.text)[1] if leaf is not None else None
    owner = part.owner if path is None else path[-1] if path else ""
    functions = code.functions(name)
    found = [one for one in functions if one.owner == owner]
    if not found and (path is None or owner in code.namespaces):
        found = [one for one in functions if not one.owner]
    return found[0] if len(found) == 1 else None


def _graph(calls: Iterable[tuple[CodePart, CodePart]]) -> dict[CodePart, set[CodePart]]:
    found: dict[CodePart, set[CodePart]] = {}
    for part, callee in calls:
        found.setdefault(part, set()).add(callee)
    return found


def _without_ends(calls: Mapping[CodePart, set[CodePart]]) -> dict[CodePart, set[CodePart]]:
    """Return the calls without those that lead to an end: a long chain of functions is no circle."""
    callers = _graph((callee, part) for part, callees in calls.items() for callee in callees)
    left = {part: len(callees) for part, callees in calls.items()}
    ends = [part for part in callers if part not in left]
    while ends:
        for part in callers.get(ends.pop(), ()):
            left[part] -= 1
            ends += [part] if left[part] == 0 else []
    return {part: {one for one in callees if left.get(one)} for part, callees in calls.items() if left[part]}


def _leads(calls: Mapping[CodePart, set[CodePart]], start: CodePart, goal: CodePart) -> bool:
    """Whether calls lead from one function to another, or from one back to itself."""
    waiting, seen = list(calls.get(start, ())), set[CodePart]()
    while waiting:
        one = waiting.pop()
        if one == goal:
            return True
        if one not in seen:
            seen.add(one)
            waiting += calls.get(one, ())
    return False
