"""The one way from an operation to its observers: operations emit, and never reach for observers or the call cache."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gn_tutorial
import gn_tutorial as gnt
from gn_tutorial.errors import CompileError

INCLUDE = Path(gn_tutorial.__file__).parent / "twin" / "include" / "gn_twin"
OPERATIONS = [path for folder in ("basic_api", "adv_api") for path in sorted((INCLUDE / folder).rglob("*.h"))]
BEHIND_EMIT = re.compile(
    r"\bobservers\b|\bcached\b|\bFlushedCache\b|\bEmitCached\b|\bRecheck\b|\bOnEvent\b|\bEvent \w+;"
)


@pytest.mark.parametrize("folder", ["basic_api", "adv_api"])
def test_operations_only_emit(folder: str) -> None:
    code = {
        path.relative_to(INCLUDE).as_posix(): re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
        for path in OPERATIONS
        if path.is_relative_to(INCLUDE / folder)
    }
    assert len(code) > 15
    reaching = {name: found for name, text in code.items() if (found := BEHIND_EMIT.findall(text))}
    assert not reaching, "an operation calls an Emit (docs/architecture.md), which finds observers and the call cache"


def test_what_is_behind_emit_is_looked_for_under_its_names() -> None:
    emit = "\n".join((INCLUDE / name).read_text(encoding="utf-8") for name in ("core/emit.h", "tensor/emit.h"))
    assert {"observers", "cached", "FlushedCache", "EmitCached"} <= set(BEHIND_EMIT.findall(emit))


DESCRIBE = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void k(GM_ADDR x) {{ {body} }}
"""
HEAD = '"k", gn_twin::Kind::Words, gn_twin::Pipe::S, gn_twin::Loc::here()'


def describing(body: str) -> str:
    return f"gn_twin::EmitOperation({HEAD}, [](gn_twin::Operation& operation) {{ {body} }});"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (f"gn_twin::Operation operation({HEAD});", "private"),
        (describing("operation.Works(1);"), "void"),
        (describing("return gn_twin::Emission();"), "private"),
    ],
)
def test_an_operation_that_is_not_emitted_does_not_compile(body: str, says: str) -> None:
    with pytest.raises(CompileError) as refused:
        gnt.kernel(source=DESCRIBE.format(body=body)).build()
    assert says in str(refused.value)


def test_an_operation_that_is_emitted_compiles() -> None:
    assert gnt.kernel(source=DESCRIBE.format(body=describing("return operation.Works(1).Emit(0, 0, 4);"))).build()
