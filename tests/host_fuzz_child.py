"""Random GroupNorm calls of the host API, right and wrong ones: ``host_fuzz_child.py LIBRARY COUNT SEED``.

All tensors lie in one arena. A model in Python, which shares no code with the API, says whether a call is allowed: it
looks at every element's address. What the API accepts must be allowed, and then the arena must hold what the reference
says, in the outputs' places and nowhere else. Prints the number of calls by what they came to, as JSON.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import math
import random
import sys
from collections import Counter
from ctypes import c_uint64, c_void_p
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from gn_tutorial import host_api, host_library, reference
from gn_tutorial.host_api import Code
from gn_tutorial.spec import find_kernel

ARENA = 1 << 16
DTYPES = {0: np.dtype(np.float32), 1: np.dtype(np.float16), 27: np.dtype(ml_dtypes.bfloat16)}
HUGE = (1 << 31, 1 << 40, (1 << 62) + 3, (1 << 63) - 1)
NAMES = ("self", "gamma", "beta", "out", "meanOut", "rstdOut")
OUTPUTS = ("out", "meanOut", "rstdOut")


@dataclass(frozen=True)
class View:
    """A tensor whose storage begins ``at`` bytes into the arena."""

    dims: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage: tuple[int, ...]
    dtype: int
    at: int

    def places(self) -> list[int]:
        """Byte offset of each element in the arena, in the order of indices."""
        item = DTYPES[self.dtype].itemsize
        indices = itertools.product(*(range(count) for count in self.dims))
        return [
            self.at + item * (self.offset + sum(i * step for i, step in zip(index, self.strides, strict=True)))
            for index in indices
        ]

    def can_be(self) -> bool:
        """Whether GnCreateTensor should accept it."""
        if max(len(self.dims), len(self.storage)) > 8 or min(
            (0, self.offset, *self.dims, *self.strides, *self.storage)
        ):
            return False
        item = DTYPES[self.dtype].itemsize if self.dtype in DTYPES else 1
        count, stored = math.prod(self.dims), math.prod(self.storage)
        if max(count, stored) >= 1 << 63:
            return False
        if count == 0:
            return True
        last = self.offset + sum((n - 1) * step for n, step in zip(self.dims, self.strides, strict=True))
        return last < stored and stored * item < 1 << 63 and self.at % item == 0

    def in_arena(self) -> bool:
        """Whether its storage is what it says: what nobody can check."""
        item = DTYPES[self.dtype].itemsize if self.dtype in DTYPES else 8
        return self.at >= 0 and self.at + math.prod(self.storage) * item <= ARENA


def in_64_bits(number: int) -> int:
    return min(max(number, -(1 << 63)), (1 << 63) - 1)


def some_layout(rng: random.Random, dims: tuple[int, ...], dtype: int, at: int) -> View:
    axes, strides, step = list(range(len(dims))), [0] * len(dims), rng.choice((1, 1, 1, 2, 3))
    if rng.random() < 0.6:
        rng.shuffle(axes)
    for axis in reversed(axes):
        strides[axis] = step
        step = step * max(dims[axis], 1) + rng.choice((0, 0, 0, 1, 5))
    offset = rng.choice((0, 0, 3))
    return View(dims, tuple(strides), offset, (offset + step + 1,), dtype, at)


def right_call(rng: random.Random) -> dict[str, Any]:
    groups, n = rng.randint(1, 4), rng.choice((0, 1, 2, 3))
    channels = groups * rng.randint(1, 4)
    space = tuple(rng.randint(1, 5) for _ in range(rng.randint(0, 3)))
    dtype = rng.choice(list(DTYPES))
    call: dict[str, Any] = {"N": n, "C": channels, "HxW": math.prod(space), "group": groups, "eps": 1e-5}
    data, affine, statistics = (n, channels, *space), (channels,), (n, groups)
    shapes = dict(zip(NAMES, (data, affine, affine, data, statistics, statistics), strict=True))
    for slot, name in enumerate(NAMES):
        own = dtype if name in NAMES[:4] else 0
        call[name] = some_layout(rng, shapes[name], own, 512 + slot * 10_240)
    for name in ("gamma", "beta"):
        if rng.random() < 0.2:
            call[name] = None
    return call


def spoil(rng: random.Random, call: dict[str, Any]) -> None:
    """One change, which may or may not make the call wrong."""
    if rng.random() < 0.25:
        name = rng.choice(("N", "C", "HxW", "group"))
        value = rng.choice((0, -1, call[name] + 1, call[name] * 2, call[name] - 1, rng.choice(HUGE), -(1 << 63)))
        call[name] = in_64_bits(value)
        return
    if rng.random() < 0.06:
        call["eps"] = rng.choice((0.0, -1.0, math.nan, math.inf, 1e-50, 1e300, 0.25, 1e-12))
        return
    name = rng.choice(NAMES)
    view = call[name]
    if view is None or rng.random() < 0.06:
        call[name] = rng.choice((None, "gone"))
        return
    if view == "gone":
        return

    def changed(numbers: tuple[int, ...]) -> tuple[int, ...]:
        if not numbers:
            return (rng.choice((0, 1, 2)),)
        at = rng.randrange(len(numbers))
        new = rng.choice((0, 1, -1, numbers[at] + 1, max(numbers[at] - 1, 0), numbers[at] * 2, rng.choice(HUGE)))
        return (*numbers[:at], in_64_bits(new), *numbers[at + 1 :])

    kind = rng.randrange(9)
    if kind == 0:
        view = replace(view, dims=changed(view.dims)[: len(view.dims)])
    elif kind == 1:
        view = replace(view, strides=changed(view.strides)[: len(view.strides)])
    elif kind == 2:
        view = replace(view, offset=in_64_bits(rng.choice((-1, 0, 1, view.offset + 7, rng.choice(HUGE)))))
    elif kind == 3:
        view = replace(view, storage=changed(view.storage))
    elif kind == 4:
        view = replace(view, dtype=rng.choice((0, 1, 27, 3, 11, 99, -1)))
    elif kind == 5:
        other = call[rng.choice(NAMES)]
        if isinstance(other, View):  # into another's memory, or just beside it
            view = replace(view, at=max(other.at + rng.choice((0, 2, 4, 8, 200, 1, 4 * math.prod(other.dims))), 0))
    elif kind == 6:
        extra = rng.choice((1, 1, 2))
        view = replace(view, dims=(*view.dims, extra), strides=(*view.strides, 1))
    elif kind == 7:
        while len(view.dims) < rng.choice((8, 9)):
            view = replace(view, dims=(*view.dims, 1), strides=(*view.strides, rng.choice((0, 1, 1 << 40))))
    else:
        view = replace(view, dims=view.dims[:-1], strides=view.strides[:-1])
    call[name] = view


def allowed(call: dict[str, Any]) -> bool:
    """The rules of docs/host-api.md, by looking at every element."""
    views = {name: call[name] for name in NAMES}
    if any(views[name] is None for name in ("self", *OUTPUTS)) or "gone" in views.values():
        return False
    here = {name: view for name, view in views.items() if view is not None}
    n, channels, space, groups = (call[name] for name in ("N", "C", "HxW", "group"))
    dims = here["self"].dims
    data = here["self"].dtype
    types = {name: data if name in NAMES[:4] else 0 for name in here}
    shapes = {
        "self": dims,
        "out": dims,
        "gamma": (channels,),
        "beta": (channels,),
        "meanOut": (n, groups),
        "rstdOut": (n, groups),
    }
    if data not in DTYPES or any(view.dtype != types[name] or view.dims != shapes[name] for name, view in here.items()):
        return False
    with np.errstate(all="ignore"):
        small = np.float32(call["eps"])
    if len(dims) < 2 or (n, channels, space) != (*dims[:2], math.prod(dims[2:])) or not 0 < small < np.inf:
        return False
    if groups <= 0 or channels == 0 or channels % groups or (space == 0 and n > 0):
        return False
    if math.prod(dims) > ARENA:
        return False  # too much to look at, and more than any storage of ours holds
    places = {name: np.array(view.places(), np.int64) for name, view in here.items()}
    taken = {}
    for name, starts in places.items():
        item = DTYPES[here[name].dtype].itemsize
        taken[name] = np.unique(starts[:, None] + np.arange(item)) if starts.size else starts
        if name in OUTPUTS and taken[name].size != starts.size * item:
            return False
    return not any(np.intersect1d(taken[one], taken[other]).size for one in OUTPUTS for other in here if one != other)


class Failure(Exception):
    pass


class Fuzz:
    def __init__(self, library: ctypes.CDLL, seed: int) -> None:
        self.library, self.rng = library, random.Random(seed)
        self.memory = np.zeros(ARENA + 64, np.uint8)
        skip = -self.memory.ctypes.data % 64
        self.arena = self.memory[skip : skip + ARENA]
        self.stream = host_api.Stream()
        self.tolerance = find_kernel("group_norm/any")[1].tolerance
        self.came_to: Counter[str] = Counter()

    def one(self) -> None:
        call = right_call(self.rng)
        for _ in range(self.rng.choice((0, 1, 1, 2, 4))):
            spoil(self.rng, call)
        handles: dict[str, c_void_p | None] = {}
        try:
            for name in NAMES:
                handles[name] = self.create(call[name])
                if isinstance(call[name], View) and handles[name] is None:
                    self.came_to["no descriptor"] += 1
                    return
            self.run(call, handles)
        except Failure as failure:
            raise Failure(f"{failure}\n{call}") from None
        finally:
            for handle in handles.values():
                if handle is not None:
                    self.library.GnDestroyTensor(handle)
            self.library.GnGetRecentErrMsg()

    def create(self, view: View | str | None) -> c_void_p | None:
        if not isinstance(view, View):
            return c_void_p(0x1234560) if view else None
        made = c_void_p()
        status = self.library.GnCreateTensor(
            host_api.whole_numbers(view.dims), len(view.dims), view.dtype, host_api.whole_numbers(view.strides),
            view.offset, host_api.whole_numbers(view.storage), len(view.storage), self.arena.ctypes.data + view.at,
            ctypes.byref(made),
        )  # fmt: skip
        if (status == Code.SUCCESS) is not view.can_be():
            raise Failure(f"GnCreateTensor returned {status} {self.library.GnGetRecentErrMsg()} for {view}")
        return made if status == Code.SUCCESS else None

    def run(self, call: dict[str, Any], handles: dict[str, c_void_p | None]) -> None:
        size, executor = c_uint64(), c_void_p()
        status = self.library.GroupNormGetWorkspaceSize(
            *(handles[name] for name in NAMES[:3]), *(call[name] for name in ("N", "C", "HxW", "group", "eps")),
            *(handles[name] for name in OUTPUTS), ctypes.byref(size), ctypes.byref(executor),
        )  # fmt: skip
        self.came_to[Code(status).name] += 1
        if status != Code.SUCCESS:
            if status not in (Code.PARAM_NULLPTR, Code.PARAM_INVALID) or not self.library.GnGetRecentErrMsg():
                raise Failure(f"refused with {status}")
            if allowed(call):
                raise Failure("a call that is allowed was refused")
            return
        views = [call[name] for name in NAMES if isinstance(call[name], View)]
        if not all(view.in_arena() or math.prod(view.dims) == 0 for view in views):
            self.library.GnDestroyExecutor(executor)  # its storage is a lie that nobody could see
            self.came_to["storage is not there"] += 1
            return
        if not allowed(call):
            raise Failure("a call that is not allowed was accepted")
        numbers = self.arena.view(DTYPES[call["self"].dtype])
        numbers[...] = np.random.default_rng(self.rng.randrange(1 << 30)).normal(0.5, 1.5, numbers.size)
        workspace = np.full(size.value + 128, 0xA5, np.uint8)
        before = self.arena.copy()
        host_api.check(self.library.GroupNorm(workspace.ctypes.data + 64, size.value, executor, self.stream.handle))
        self.stream.synchronize()
        if (workspace[:64] != 0xA5).any() or (workspace[64 + size.value :] != 0xA5).any():
            raise Failure("wrote beside the workspace")
        self.compare(call, before)
        self.came_to["compared"] += 1

    def compare(self, call: dict[str, Any], before: np.ndarray) -> None:
        def read(name: str, memory: np.ndarray) -> np.ndarray | None:
            view = call[name]
            if view is None:
                return None
            dtype = DTYPES[view.dtype]
            raw = [memory[at : at + dtype.itemsize] for at in view.places()]
            values = np.concatenate(raw).view(dtype) if raw else np.empty(0, dtype)
            return values.reshape(view.dims).astype(np.float64)

        x, gamma, beta = (read(name, before) for name in NAMES[:3])
        expected = reference.group_norm(x, gamma, beta, num_groups=call["group"], eps=float(np.float32(call["eps"])))
        untouched = np.ones(ARENA, bool)
        for name, right in zip(OUTPUTS, expected, strict=True):
            dtype = DTYPES[call[name].dtype]
            limit = self.tolerance.of(dtype.name)
            if not np.allclose(read(name, self.arena), right, rtol=limit.rtol, atol=limit.atol):
                raise Failure(f"{name} is wrong")
            for at in call[name].places():
                untouched[at : at + dtype.itemsize] = False
        if (self.arena != before)[untouched].any():
            raise Failure("wrote beside the outputs")


def main() -> None:
    path, count, seed = sys.argv[1:]
    library = host_api.declared(Path(path))
    host_library.library = lambda: library
    fuzz = Fuzz(library, int(seed))
    for number in range(int(count)):
        try:
            fuzz.one()
        except Failure as failure:
            sys.exit(f"call {number} of seed {seed}: {failure}")
    fuzz.stream.destroy()
    print(json.dumps(fuzz.came_to))


if __name__ == "__main__":
    main()
