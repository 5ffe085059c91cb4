"""Virtual functions and virtual bases, which CANN does not support: a launch stops.

Source: asc-devkit, docs/zh/guide, 技术附录/CPP标准支持/语法限制/特性.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding
from gn_tutorial.cpp.scopes import CLASSES


def virtual(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at each ``virtual`` of a class that is reached."""
    for node in code.nodes["virtual"]:
        around = next(code.syntax.enclosing(node, *CLASSES), None)
        yield SourceFinding("language-virtual", code.syntax.line(node), {"op": "virtual"}, around or node)
