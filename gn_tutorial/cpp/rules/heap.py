"""new, delete, malloc and free, which CANN does not support: a launch stops. Placement new takes no memory.

Source: asc-devkit, docs/zh/guide, 技术附录/CPP标准支持/语法限制/特性.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.names import call_of

_FUNCTIONS = ("malloc", "calloc", "realloc", "free", "aligned_alloc")


def heap(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at each request for memory, and where it is given back."""
    for node in code.nodes["new_expression"]:
        if node.child_by_field_name("placement") is None:
            yield code.finding("heap", node, op="new")
    for node in code.nodes["delete_expression"]:
        yield code.finding("heap", node, op="delete")
    for name in _FUNCTIONS:
        for node in code.names.get(name, ()):
            of_library = code.is_of_std(node) or code.is_of_host(node)
            if of_library and code.function_of(node) and call_of(node, code.syntax):
                yield code.finding("heap", node, op=name)
