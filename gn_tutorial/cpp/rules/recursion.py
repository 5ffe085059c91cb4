"""Functions that call themselves at run time, at once or through others: CANN supports none, and a launch stops.

Source: asc-devkit, docs/zh/guide, 技术附录/CPP标准支持/语法限制/特性.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
    circle = _circles(one[:2] for one in calls)
    calls = [one for one in calls if circle[one[0]] is circle[one[1]] and code.callee(one[2]) is one[1]]
    calls = [one for one in calls if code.is_live(one[2])]
    circle = _circles(one[:2] for one in calls)
    told: set[CodePart] = set()
    for part, callee, call in calls:
        name = code.called_name(call)
        if name is not None and part not in told and circle[part] is circle[callee]:
            told.add(part)
            yield code.finding("recursion", name, name=part.name, op=callee.name)


def _by_name(code: DeviceCode, part: CodePart, name: str, call: Node) -> CodePart | None:
    """Return the only function that a call may mean by the names of classes; None if there are several."""
    leaf = code.called_name(call)
    path = qualification(leaf, code.syntax)[1] if leaf is not None else None
    owner = part.owner if path is None else path[-1] if path else ""
    functions = code.functions(name)
    found = [one for one in functions if one.owner == owner]
    if not found and (path is None or owner in code.namespaces):
        found = [one for one in functions if not one.owner]
    return found[0] if len(found) == 1 else None


def _circles(calls: Iterable[tuple[CodePart, CodePart]]) -> dict[CodePart, CodePart]:
    """Return one function for each: the same one for those that lead to one another (Kosaraju's algorithm)."""
    callees, callers = dict[CodePart, list[CodePart]](), dict[CodePart, list[CodePart]]()
    for part, callee in calls:
        for one, other, graph in ((part, callee, callees), (callee, part, callers)):
            graph.setdefault(one, []).append(other)
    ended, seen = dict[CodePart, None](), set[CodePart]()  # ended: each behind all that it leads to
    waiting = list({**callees, **callers})
    while waiting:
        part = waiting[-1]
        if part in seen:
            ended.setdefault(waiting.pop())
        else:
            seen.add(part)
            waiting += [one for one in callees.get(part, ()) if one not in seen]
    found = dict[CodePart, CodePart]()
    for first in reversed(ended):
        waiting = [first]
        while waiting:
            part = waiting.pop()
            if part not in found:
                found[part] = first
                waiting += callers.get(part, ())
    return found
