"""typeid, and dynamic_cast, which asks for the type at run time too: CANN supports neither, and a launch stops.

Source: asc-devkit, docs/zh/guide, 技术附录/CPP标准支持/语法限制/特性.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding


def typeid(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at each of these words in a function."""
    for word in ("typeid", "dynamic_cast"):
        for node in code.names.get(word, ()):
            if code.function_of(node):
                yield code.finding("typeid", node, op=word)
