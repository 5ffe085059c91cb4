"""Variables that outlive a block's run. On the twin all blocks share one; on a device they may not.

CANN has words for a variable of each block, or in the memory that blocks share: ``__BLOCK_LOCAL__``, ``__gm__``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gn_tutorial.cpp.declarators import declared
from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.names import leaf_of

_ALLOWED = frozenset(("const", "constexpr", "extern", "__BLOCK_LOCAL__", "block_local", "__gm__"))
_STATIC = ("static", "thread_local")


def globals_(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at each variable of a namespace, and at static ones of classes and functions."""
    # If the parser lost a brace, fields of a class may look like variables of a namespace.
    lost = any((part := code.part_of(one)) is None or part.kind != "function" for one in code.syntax.errors())
    for part in code.parts if not lost else ():
        outlives = part.kind == "variable" and (not part.owner or "static" in part.words)
        if outlives and not part.words & _ALLOWED and not part.node.has_error:
            for declarator in part.node.children_by_field_name("declarator"):
                for name, _ in declared(declarator):
                    yield code.finding("global", leaf_of(name), name=code.text(leaf_of(name)))
    for node in code.nodes["storage_class_specifier"]:
        around = code.syntax.parent(node)
        if code.text(node) not in _STATIC or around is None or around.type != "declaration":
            continue
        declarators = around.children_by_field_name("declarator")
        if not code.function_of(node) or not declarators:
            continue
        head = code.head(around) + code.syntax.between(around.start_byte, declarators[0].start_byte)
        words = re.findall(r"\w+", head)
        before = code.syntax.before(node)
        again = before is not None and before.type == node.type and code.text(before) in _STATIC
        if _ALLOWED.isdisjoint(words) and not again:
            for declarator in declarators:
                for name, function in declared(declarator):
                    if function is None:
                        yield code.finding("global", node, name=code.text(leaf_of(name)))
