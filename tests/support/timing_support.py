"""Hand-made traces for tests of the timing model: no kernel is compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gn_tutorial.abi.trace import LINE_BYTES, Access, Event, Kind, Lines, Operand, Pipe, Space, Trace

_PIPES = {"S": Pipe.S, "V": Pipe.V, "MTE2": Pipe.MTE2, "MTE3": Pipe.MTE3}


def event(kind: Kind, pipe: Pipe, **values: object) -> Event:
    plain = {
        "op": "Op",
        "file": "k.cpp",
        "line": 1,
        "block": 0,
        "repeats": 0,
        "element_bytes": 4,
        "lanes": 0,
        "per_repeat": 0,
        "first": 0,
        "last": 0,
        "mask": None,
        "flag": "",
        "event_id": -1,
        "operands": (),
        "changes": 0,
    }
    return Event(kind=kind, pipe=pipe, **{**plain, **values})


def operand(space: Space, access: Access, at: int, size: int, **values: object) -> Operand:
    plain = {
        "role": "dst" if access is Access.WRITE else "src",
        "argument": "x" if space is Space.GM else "",
        "element_bytes": 4,
        "strided": False,
        "blk_stride": 1,
        "rep_stride": 8,
        "rows": 1,
        "row_bytes": 0,
        "row_pitch": 0,
        "cached": True,
        "lines": 0,
        "cold": 0,
        "reuse_lines": 0,
        "cold_blocks": 0,
    }
    return Operand(space=space, access=access, at=at, bytes=size, **{**plain, **values})


def load(size: int, *, ub: int = 0, at: int = 0, line: int = 1, cold: bool = True, **values: object) -> Event:
    """Return a DataCopy of ``size`` bytes into the Unified Buffer. cold: from memory that was not touched before."""
    lines = (at + size - 1) // LINE_BYTES - at // LINE_BYTES + 1 if size else 0
    far = {"lines": lines, "cold": lines if cold else 0, "cold_blocks": -(-size // 32) if cold else 0, **values}
    operands = (
        operand(Space.UB, Access.WRITE, ub, size),
        operand(Space.GM, Access.READ, at, size, **far),
    )
    return event(Kind.COPY, Pipe.MTE2, op="DataCopy", line=line, operands=operands)


def store(size: int, *, ub: int = 0, at: int = 1 << 20, line: int = 1) -> Event:
    operands = operand(Space.GM, Access.WRITE, at, size), operand(Space.UB, Access.READ, ub, size)
    return event(Kind.COPY, Pipe.MTE3, op="DataCopy", line=line, operands=operands)


def vector(op: str, repeats: int, *places: int, line: int = 1, element_bytes: int = 4) -> Event:
    """Return an instruction over whole repeats; places: dst, then the sources, in bytes of the Unified Buffer."""
    operands = tuple(
        operand(Space.UB, Access.READ if index else Access.WRITE, at, repeats * 256, element_bytes=element_bytes)
        for index, at in enumerate(places)
    )
    lanes = repeats * 256 // element_bytes
    return event(
        Kind.VECTOR, Pipe.V, op=op, line=line, repeats=repeats, lanes=lanes, operands=operands,
        element_bytes=element_bytes,
    )  # fmt: skip


def set_flag(flag: str, number: int = 0, line: int = 1) -> Event:
    return event(Kind.SET_FLAG, _PIPES[flag.split("_")[0]], op="SetFlag", flag=flag, event_id=number, line=line)


def wait_flag(flag: str, number: int = 0, line: int = 1) -> Event:
    return event(Kind.WAIT_FLAG, _PIPES[flag.split("_")[1]], op="WaitFlag", flag=flag, event_id=number, line=line)


def elements(count: int, *, at: int = 0, size: int = 4, access: Access = Access.READ, line: int = 1) -> Event:
    """Return a run of ``count`` scalar accesses, each to ``size`` bytes of the Unified Buffer."""
    return event(
        Kind.SCALARS, Pipe.S, op="GetValue", line=line, lanes=count, operands=(operand(Space.UB, access, at, size),)
    )


def trace(*events: Event, launched: int = 1, lines: Lines | None = None) -> Trace:
    """Return a launch whose only recorded block is block 0."""
    return trace_of({0: events}, launched=launched, lines=lines)


def trace_of(
    blocks: Mapping[int, Sequence[Event]], *, launched: int | None = None, lines: Lines | None = None
) -> Trace:
    """Return a launch with these recorded blocks; its lines are counted from the events unless given."""
    numbered = {block: tuple(one._replace(block=block) for one in events) for block, events in blocks.items()}
    if lines is None:
        far = [
            (one.pipe, place)
            for events in numbered.values()
            for one in events
            if one.kind is Kind.COPY
            for place in one.operands
            if place.space is Space.GM
        ]
        reads = [place for pipe, place in far if pipe is Pipe.MTE2]
        bypassed = [place for place in reads if not place.cached]
        dirty = sum(-(-place.bytes // LINE_BYTES) for pipe, place in far if pipe is Pipe.MTE3)
        cold = sum(place.cold for place in reads if place.cached)
        lines = Lines(
            read=sum(place.lines for place in reads),
            cold=cold,
            bypassed=sum(place.lines for place in bypassed),
            written=dirty,
            dirty=dirty,
            held=cold + dirty,
            bypassed_bytes=sum(place.bytes for place in bypassed),
        )
    return Trace(
        blocks=numbered,
        launched=launched or len(numbered),
        complete=True,
        arguments=(),
        lines=lines,
    )
