"""A hand-made launch for the tests of pictures: two tiles of x through one vector instruction into y."""

from __future__ import annotations

from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from timing_support import event, load, operand, set_flag, store, trace_of, vector, wait_flag

from gn_tutorial.abi.trace import FIRST_ADDRESS, Access, Event, Kind, Pipe, Space, TracedArgument
from gn_tutorial.profiler.profile import Profile
from gn_tutorial.runtime.launch_types import Tally
from gn_tutorial.timing.machine import load_machine
from gn_tutorial.timing.timeline import make_timeline

B3 = load_machine("910B3")
TILE = 4096  # bytes
#: x and y, two tiles a block, one after the other in the model's global memory.
X = FIRST_ADDRESS
MIDDLE = 2 * TILE  # byte of the Unified Buffer: x's two buffers are below it, y's buffer above


def buffer_event(kind: Kind, at: int, size: int, *, line: int, file: str = "k.cpp") -> Event:
    place = operand(Space.UB, Access.READ, at, size)
    return event(kind, Pipe.S, op=kind.name, line=line, file=file, operands=(place,))


def block_events(block: int, blocks: int, file: str) -> list[Event]:
    y = X + blocks * 2 * TILE
    events = [
        buffer_event(Kind.INIT_BUFFER, 0, 2 * TILE, line=3, file=file),
        buffer_event(Kind.INIT_BUFFER, MIDDLE, TILE, line=4, file=file),
    ]
    for tile in range(2):
        at, offset = tile * TILE, (2 * block + tile) * TILE
        events += [
            buffer_event(Kind.ALLOC, at, TILE, line=10),
            load(TILE, ub=at, at=X + offset, line=11, argument="x"),
            set_flag("MTE2_V", tile, line=12),
            wait_flag("MTE2_V", tile, line=13),
            buffer_event(Kind.ALLOC, MIDDLE, TILE, line=14),
            *([wait_flag("MTE3_V", 0, line=14)] if tile else []),
            vector("Muls", TILE // 256, MIDDLE, at, line=15),
            set_flag("V_MTE3", 0, line=16),
            buffer_event(Kind.FREE, at, TILE, line=17),
            wait_flag("V_MTE3", 0, line=18),
            named_store(y + offset),
            set_flag("MTE3_V", 0, line=20),
            buffer_event(Kind.FREE, MIDDLE, TILE, line=20),
        ]
    return events


def named_store(at: int) -> Event:
    made = store(TILE, ub=MIDDLE, at=at, line=19)
    far, near = made.operands
    return made._replace(operands=(far._replace(argument="y"), near))


def two_tiles(blocks: int = 2, *, file: str = "k.cpp", kernel: str = "by hand", launched: int = 0) -> Profile:
    """Return the profile. launched: blocks of the launch, which may be more than the recorded ones."""
    made = trace_of({block: block_events(block, blocks, file) for block in range(blocks)}, launched=launched or blocks)
    size = blocks * 2 * TILE
    made = replace(made, arguments=(TracedArgument("x", X, size), TracedArgument("y", X + size, size)))
    tally = Tally(scalar=0, vector=2 * blocks, mte2=2 * blocks, mte3=2 * blocks, bytes_in=size, bytes_out=size,
                  ub_high_water=3 * TILE)  # fmt: skip
    return Profile(kernel, made.launched, make_timeline(made, B3), made, tally)


def boxes(axis: Axes, name: str) -> list[tuple[float, float, float, float]]:
    """Return left, right, bottom and top of every box of the collections with this gid, rounded to 9 places."""
    found = []
    for drawn in axis.collections:
        if isinstance(drawn, PolyCollection) and drawn.get_gid() == name:
            for path in drawn.get_paths():
                (left, bottom), (right, top) = path.vertices.min(axis=0), path.vertices.max(axis=0)
                found.append(tuple(round(float(one), 9) for one in (left, right, bottom, top)))
    return found


def texts(axis: Axes) -> list[str]:
    return [text.get_text() for text in axis.texts]


def us(cycles: float) -> float:
    return round(cycles / 1800.0, 9)
