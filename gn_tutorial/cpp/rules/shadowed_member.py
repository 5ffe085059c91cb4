"""Local variables that hide a member which nothing else writes: ``int32_t end_ = ...``, where ``end_ = ...`` was meant.

Told by tokens alone, so only for members that other functions read.
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.declarations import Node
from gn_tutorial.cpp.device_code import DeviceCode
from gn_tutorial.cpp.rules.device_functions import SourceFinding
from gn_tutorial.cpp.rules.unset_values import NUMBERS, may_write


def hidden(code: DeviceCode, node: Node) -> Iterator[SourceFinding]:
    """Variables of a class's function with the name of a member that is read elsewhere and written nowhere."""
    outline = code.outline
    if node.kind != "function" or not node.owner:
        return
    members = [one for one in code.nodes if one.kind == "variable" and one.owner == node.owner]
    for at in range(*node.body):
        name = outline.text(at)
        if outline.text(at + 1) != "=" or outline.text(at - 1) not in NUMBERS | {"auto"} or not outline.is_name(at):
            continue
        spans = [one.spans[0] for one in members if name in code.mentions(one)]
        if not spans:
            continue
        others = [
            place
            for place in code.places(name)
            if place not in range(*node.body) and not any(begin <= place < end for begin, end in spans)
        ]
        if others and not any(may_write(code, place) for place in others):
            fields = {"name": name, "op": name, "class": node.owner}
            yield SourceFinding("language-hidden", outline.tokens[at].line, fields)
