"""Computes the lower bound of a launch's time from the bytes that its operator moves and whether cores share groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gn_tutorial.abi.trace import Access, Event, Space, Trace
from gn_tutorial.operators.arguments import InOut, TensorList
from gn_tutorial.operators.kernel import Kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.timing.lower_bound import Bound, Work, lower_bound
from gn_tutorial.timing.machine import Machine


def bound_of(result: Result, arrays: Mapping[str, np.ndarray], group: str, machine: Machine) -> Bound:
    """Return the bound of a traced launch.

    arrays: the launch's inputs by name, the data first. group: the name of the tiling struct's field that has the
    number of elements of a group; "" if there are no groups. A group must be read whole before any of it is written. It
    is read from each input that has the data's shape, such as dy and x in a backward pass.
    """
    read = sum(array.nbytes for array in arrays.values())
    written = sum(array.nbytes for array in result.outputs.values())
    name, data = next(iter(arrays.items()))
    elements = int(result.tiling[group]) if group and result.tiling is not None else 0
    units = data.size // elements if elements else 0
    of_each = elements * data.itemsize
    work = Work(read, written, units, of_each * sum(array.shape == data.shape for array in arrays.values()))
    # If groups fit into the UB, the bound is the same whether cores share them or not. Such launches have the most
    # events, so their events are not searched.
    shared = result.blocks > units or (
        work.unit_bytes > machine.ub_bytes and shares_groups(result.trace, name, of_each)
    )
    return lower_bound(work, machine, split=shared)


def arrays_of_call(target: object, values: Sequence[Any], named: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return name -> array of the inputs in a call of a kernel or a project, the data first.

    An input whose name is not known has its position as name. Outputs and scratch memory are left out. Each array of a
    list has an entry of its own.
    """
    op = target.op if isinstance(target, Kernel) else None
    names = [one.name for one in op.arguments if one.role in ("in", "inout")] if op else []
    first = {(names[at] if at < len(names) else str(at)): value for at, value in enumerate(values)}
    return {name: array for key, value in {**first, **named}.items() for name, array in _arrays(key, value)}


def _arrays(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, InOut):
        value = value.array
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, (list, tuple, TensorList)):
        for index, one in enumerate(value.tensors if isinstance(value, TensorList) else value):
            yield from _arrays(f"{name}[{index}]", one)


def shares_groups(trace: Trace | None, argument: str, size: int) -> bool:
    """Whether a recorded block read only a part of a group. False for an incomplete trace, which proves nothing.

    Also False if there is no trace or no such argument, or if ``size`` is 0. argument: the name of the data input.
    size: bytes of a group; the groups lie one after the other.
    """
    if trace is None or not trace.complete or not size:
        return False
    begin = next((one.address for one in trace.arguments if one.name == argument), None)
    if begin is None:
        return False
    return any(_reads_a_part(_ranges(events, argument, begin), size) for events in trace.blocks.values())


def _ranges(events: Iterable[Event], argument: str, begin: int) -> set[tuple[int, int]]:
    """Return the byte ranges of the argument that the events read; a strided copy is one range, first row to last."""
    return {
        (one.at - begin, one.at - begin + (one.rows - 1) * one.row_pitch + one.row_bytes)
        if one.row_bytes
        else (one.at - begin, one.at - begin + one.bytes)
        for event in events
        for one in event.operands
        if one.space is Space.GM and one.argument == argument and one.access is not Access.WRITE
    }


def _reads_a_part(ranges: set[tuple[int, int]], size: int) -> bool:
    joined: list[list[int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return any(start % size or end % size for start, end in joined if start < end)
