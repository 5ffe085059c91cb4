"""Functions of the source that device code calls, and that are the host's by their qualifiers.

Source: asc-devkit, docs/zh/guide, 编程指南/语言扩展层/SIMD-BuiltIn关键字.md (a function without a qualifier is the
host's).
"""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.code_parts import DEVICE_WORDS
from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding


def not_aicore(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at each such function, for each function of the device that calls it."""
    for part, name, call in code.own_calls:
        if not part.is_device or all(one.is_device for one in code.functions(name)) or not code.is_live(call):
            continue
        callee = code.callee(call)
        if callee is None or callee.is_device or callee.declarator is None:
            continue
        if any(words & DEVICE_WORDS for words in code.prototypes.get(name, ())):
            continue  # a declaration elsewhere has the word
        line = code.syntax.line(callee.declarator)
        yield SourceFinding("language-not-aicore", line, {"name": name, "op": name, "caller": part.name}, call)
