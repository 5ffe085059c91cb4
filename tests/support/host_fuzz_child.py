"""Random calls of the host API, right and wrong ones: ``host_fuzz_child.py LIBRARY COUNT SEED``.

All tensors are in one arena. A model in Python (``host_cases``), which shares no code with the API, decides whether a
call is allowed: it computes every element's address. A call that the API accepts must be allowed, and afterwards the
arena must have the reference's results in the outputs' places and no other change. Prints as JSON, for each operator,
the number of calls by result.
"""

from __future__ import annotations

import ctypes
import json
import math
import random
import sys
from collections import Counter
from ctypes import c_uint8, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
from host_cases import CASES
from host_fuzz_ops import Op, spoil
from host_fuzz_views import ARENA, DTYPES, View, apart

from gn_tutorial import host
from gn_tutorial.host import Code, c_library

OPS = [case.fuzz for case in CASES.values()]
STATISTICS = {"mean", "rstd"}


class Failure(Exception):
    pass


class Fuzz:
    def __init__(self, library: ctypes.CDLL, seed: int) -> None:
        self.library, self.rng = library, random.Random(seed)
        self.memory = np.zeros(ARENA + 64, np.uint8)
        skip = -self.memory.ctypes.data % 64
        self.arena = self.memory[skip : skip + ARENA]
        self.stream = host.Stream()
        self.came_to: dict[str, Counter[str]] = {op.name: Counter() for op in OPS}

    def one(self, op: Op) -> None:
        call = op.right(self.rng)
        for _ in range(self.rng.choice((0, 1, 1, 2, 4))):
            spoil(self.rng, op, call)
        handles: dict[str, c_void_p | None] = {}
        try:
            for name in op.names:
                handles[name] = self.create(call[name])
                if isinstance(call[name], View) and handles[name] is None:
                    self.came_to[op.name]["no descriptor"] += 1
                    return
            self.run(op, call, handles)
        except Failure as failure:
            raise Failure(f"{op.name}: {failure}\n{call}") from None
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
            host.whole_numbers(view.dims), len(view.dims), view.dtype, host.whole_numbers(view.strides),
            view.offset, host.whole_numbers(view.storage), len(view.storage), self.arena.ctypes.data + view.at,
            ctypes.byref(made),
        )  # fmt: skip
        if (status == Code.SUCCESS) is not view.can_be():
            raise Failure(f"GnCreateTensor returned {status} {self.library.GnGetRecentErrMsg()} for {view}")
        return made if status == Code.SUCCESS else None

    def run(self, op: Op, call: dict[str, Any], handles: dict[str, c_void_p | None]) -> None:
        size, executor = c_uint64(), c_void_p()
        numbers = [call[name] for name in op.numbers]
        if "outputMask" in call:
            numbers[-1:] = [(c_uint8 * len(call["outputMask"]))(*call["outputMask"]), len(call["outputMask"])]
        status = getattr(self.library, f"{op.name}GetWorkspaceSize")(
            *(handles[name] for name in op.inputs), *numbers, *(handles[name] for name in op.outputs),
            ctypes.byref(size), ctypes.byref(executor),
        )  # fmt: skip
        came_to = self.came_to[op.name]
        came_to[Code(status).name] += 1
        if status != Code.SUCCESS:
            if status not in (Code.PARAM_NULLPTR, Code.PARAM_INVALID) or not self.library.GnGetRecentErrMsg():
                raise Failure(f"refused with {status}")
            if op.allowed(call):
                raise Failure("a call that is allowed was refused")
            return
        views = [call[name] for name in op.names if isinstance(call[name], View)]
        if not all(view.in_arena() or math.prod(view.dims) == 0 for view in views):
            self.library.GnDestroyExecutor(executor)  # its storage is not there, which no API can check
            came_to["storage is not there"] += 1
            return
        if not op.allowed(call):
            raise Failure("a call that is not allowed was accepted")
        if any(math.prod(max(count, 1) for count in view.dims) > ARENA for view in views):
            # The tensor is empty, and NumPy cannot have its other axes; or it repeats one number for each channel.
            self.library.GnDestroyExecutor(executor)
            came_to["too large to compare"] += 1
            return
        self.fill(op, call)
        workspace = np.full(size.value + 128, 0xA5, np.uint8)
        before = self.arena.copy()
        address = workspace.ctypes.data + 64
        host.check(getattr(self.library, op.name)(address, size.value, executor, self.stream.ready(op.name)))
        self.stream.synchronize()
        if (workspace[:64] != 0xA5).any() or (workspace[64 + size.value :] != 0xA5).any():
            raise Failure("wrote beside the workspace")
        self.compare(op, call, before)
        came_to["compared"] += 1

    def fill(self, op: Op, call: dict[str, Any]) -> None:
        """Fill the arena with numbers of x's type, and a backward pass's saved inputs with a forward pass's values."""
        rng = np.random.default_rng(self.rng.randrange(1 << 30))
        numbers = self.arena.view(DTYPES[call[op.inputs[0]].dtype])
        numbers[...] = rng.normal(0.5, 1.5, numbers.size)
        if op.saved is None:
            return
        for name, values in op.saved(call, lambda one: self.read(call[one], self.arena), rng).items():
            dtype = DTYPES[call[name].dtype]
            for at, value in zip(call[name].places(), values, strict=True):
                self.arena[at : at + dtype.itemsize] = np.array([value], dtype).view(np.uint8)

    @staticmethod
    def read(view: View | None, memory: np.ndarray) -> np.ndarray | None:
        if view is None:
            return None
        dtype = DTYPES[view.dtype]
        raw = [memory[at : at + dtype.itemsize] for at in view.places()]
        values = np.concatenate(raw).view(dtype) if raw else np.empty(0, dtype)
        return values.reshape(view.dims).astype(np.float64)

    def compare(self, op: Op, call: dict[str, Any], before: np.ndarray) -> None:
        inputs = {name: self.read(call[name], before) for name in op.inputs}
        # Inputs may share memory: statistics that lie inside another tensor are not x's.
        own = apart({name: call[name] for name in op.inputs if call[name] is not None}, STATISTICS & set(op.inputs))
        with np.errstate(all="ignore"):
            expected = op.expected(call, inputs)
        untouched = np.ones(ARENA, bool)
        for name, right in zip(op.outputs, expected, strict=True):
            if right is None:
                continue
            dtype = DTYPES[call[name].dtype]
            if own and not op.near(self.read(call[name], self.arena), right, dtype):
                raise Failure(f"{name} is wrong")
            for at in call[name].places():
                untouched[at : at + dtype.itemsize] = False
        if (self.arena != before)[untouched].any():
            raise Failure("wrote beside the outputs")


def main() -> None:
    path, count, seed = sys.argv[1:]
    library = host.declared(Path(path))
    c_library.library = lambda: library
    fuzz = Fuzz(library, int(seed))
    for number in range(int(count)):
        for op in OPS:
            try:
                fuzz.one(op)
            except Failure as failure:
                sys.exit(f"call {number} of seed {seed}: {failure}")
    fuzz.stream.destroy()
    print(json.dumps(fuzz.came_to))


if __name__ == "__main__":
    main()
