"""Every registered kernel in WebAssembly: the bits of this machine, findings and counts too."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from playground_support import ROOT, Page

from gn_tutorial.abi.trace import Trace, Tracing
from gn_tutorial.course.playground.compiling import Compilation
from gn_tutorial.course.playground.starts import request_of
from gn_tutorial.operators import random_inputs
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.registry import all_kernels, load_registry
from gn_tutorial.runtime.launch import launch
from gn_tutorial.timing.machine import DEFAULT_MACHINE, load_machine
from gn_tutorial.timing.timeline import make_timeline

KERNELS = {spec.id: (op, spec) for op, spec in all_kernels(load_registry())}
#: One that is all vector instructions, and one whose blocks wait for one another.
FIRST = ("add/queue", "group_norm/split")


def hold_beside_this_machine(page: Page, name: str) -> None:
    op, spec = KERNELS[name]
    path = PurePosixPath(spec.file.relative_to(ROOT).as_posix())
    text = spec.file.read_text(encoding="utf-8")
    assert page.compile(name, Compilation(path, text)) == ""
    attributes = {key: value for key, value in op.example.items() if key in {one.name for one in op.attributes}}
    for dtype in spec.dtypes:
        arrays = random_inputs.inputs(op, op.example["shape"], seed=7, dtype=dtype, attributes=attributes)
        request = request_of(op, spec, arrays, attributes, blocks=4, tracing=Tracing(bytes=1 << 24))
        here = launch(Kernel.registered(op, spec).build(array_bytes=1).library, request)
        there = page.launch(name, request)
        assert there.ended is None
        assert not there.failed, there.findings
        assert there.findings.to_list() == here.diagnostics.to_list() == []
        assert there.trace.lines == here.trace.lines
        assert modelled(there.trace) == modelled(here.trace)
        for output, array in here.arrays.items():
            assert there.arrays[output].tobytes() == array.tobytes(), f"{dtype} {output}"
    page.ask(do="forget", name=name)


def modelled(trace: Trace) -> float:
    return make_timeline(trace, load_machine(DEFAULT_MACHINE)).microseconds


@pytest.mark.parametrize("name", FIRST)
def test_two_kernels_give_the_same_bits(page: Page, name: str) -> None:
    hold_beside_this_machine(page, name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in KERNELS if name not in FIRST])
def test_every_kernel_gives_the_same_bits(page: Page, name: str) -> None:
    hold_beside_this_machine(page, name)
