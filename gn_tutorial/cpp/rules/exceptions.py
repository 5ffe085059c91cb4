"""try and throw in functions of the device; no document speaks of them."""

from __future__ import annotations

from collections.abc import Iterator

from gn_tutorial.cpp.device_code import DeviceCode, SourceFinding


def exceptions(code: DeviceCode) -> Iterator[SourceFinding]:
    """Yield a finding at each ``try`` and ``throw``."""
    for kind, word in (("try_statement", "try"), ("throw_statement", "throw")):
        for node in code.nodes[kind]:
            yield code.finding("exception", node, op=word)
