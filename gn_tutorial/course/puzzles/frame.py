"""Writes the kernel around a puzzle's lines; in the frame "local" with the copies to and from the Unified Buffer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

#: The value of every element of an output before the learner's lines run, in the frame "local".
FILL = 9
_CTYPES = {"float32": "float", "float16": "half", "int32": "int32_t", "int16": "int16_t", "uint8": "uint8_t"}
_SYNC = """// Sync<HardEvent::A_B>: the pipe B waits until the pipe A has done what it was given so far.
template <HardEvent event>
__aicore__ inline void Sync() {
  const TEventID id = GetTPipePtr()->FetchEventID<event>();
  SetFlag<event>(id);
  WaitFlag<event>(id);
}
"""


@dataclass(frozen=True)
class Framed:
    """The whole kernel. shown: the numbers of the first and last line that the learner sees.

    own: the numbers of the first and last line that the learner wrote.
    """

    text: str
    shown: tuple[int, int]
    own: tuple[int, int]


def framed(
    kind: str,
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, np.ndarray],
    before: str,
    lines: str,
    after: str,
) -> Framed:
    """Return the kernel ``puzzle``, whose parameters have the names, sizes and types of the arrays.

    kind "local": each array is a LocalTensor of its name, outputs are filled with FILL, and ``work`` is a LocalTensor
    of 4 KiB. kind "global": the learner's lines do the copies. In both kinds each array is also a GlobalTensor (``xGm``
    for x), and ``pipe`` is a TPipe.
    """
    arrays = {**inputs, **outputs}
    parameters = ", ".join(f"GM_ADDR {name}" for name in arrays)
    head = ['#include "kernel_operator.h"', "using namespace AscendC;", "", *_SYNC.splitlines(), ""]
    head += [f'extern "C" __global__ __aicore__ void puzzle({parameters}) {{', "  TPipe pipe;"]
    for name, array in arrays.items():
        ctype = _ctype(array)
        head.append(f"  GlobalTensor<{ctype}> {name}Gm;  // {array.size} elements")
        head.append(f"  {name}Gm.SetGlobalBuffer(reinterpret_cast<__gm__ {ctype}*>({name}), {array.size});")
    tail = ["}"]
    if kind == "local":
        head += ["  {", *_arrive(inputs), *_made(outputs)]
        tail = [*_leave(outputs), *(f"  {name}Queue.FreeTensor({name});" for name in inputs), "  }", "}"]
    given, own, rest = (_indented(part) for part in (before, lines, after))
    first = len(head) + 1
    text = "\n".join([*head, *given, *own, *rest, *tail, ""])
    begin = first + len(given)
    return Framed(text, (first, begin + len(own) + len(rest) - 1), (begin, begin + len(own) - 1))


def _arrive(inputs: Mapping[str, np.ndarray]) -> list[str]:
    lines = []
    for name, array in inputs.items():
        ctype = _ctype(array)
        lines += [
            f"  TQue<TPosition::VECIN, 1> {name}Queue;",
            f"  pipe.InitBuffer({name}Queue, 1, {_place(array)});",
            f"  LocalTensor<{ctype}> {name} = {name}Queue.AllocTensor<{ctype}>();",
            f"  DataCopyPad({name}, {name}Gm, {{1, {array.nbytes}, 0, 0, 0}}, {{false, 0, 0, {_number(ctype, 0)}}});",
            f"  {name}Queue.EnQue({name});",
            f"  {name} = {name}Queue.DeQue<{ctype}>();",
        ]
    return lines


def _made(outputs: Mapping[str, np.ndarray]) -> list[str]:
    lines = [
        "  TBuf<TPosition::VECCALC> workBuf;",
        "  pipe.InitBuffer(workBuf, 4096);",
        "  LocalTensor<float> work = workBuf.Get<float>();",
    ]
    for name, array in outputs.items():
        ctype = _ctype(array)
        lines += [
            f"  TQue<TPosition::VECOUT, 1> {name}Queue;",
            f"  pipe.InitBuffer({name}Queue, 1, {_place(array)});",
            f"  LocalTensor<{ctype}> {name} = {name}Queue.AllocTensor<{ctype}>();",
            f"  Duplicate({name}, {_number(ctype, FILL)}, {array.size});",
        ]
    return lines


def _leave(outputs: Mapping[str, np.ndarray]) -> list[str]:
    lines = []
    for name, array in outputs.items():
        ctype = _ctype(array)
        lines += [
            f"  {name}Queue.EnQue({name});",
            f"  {name} = {name}Queue.DeQue<{ctype}>();",
            f"  DataCopyPad({name}Gm, {name}, {{1, {array.nbytes}, 0, 0, 0}});",
            f"  {name}Queue.FreeTensor({name});",
        ]
    return lines


def _indented(part: str) -> list[str]:
    return [f"  {line}".rstrip() for line in part.strip("\n").splitlines()]


def _place(array: np.ndarray) -> int:
    """Return the bytes that the array takes in the Unified Buffer: a multiple of 32."""
    return -(-array.nbytes // 32) * 32


def _number(ctype: str, value: int) -> str:
    return {"float": f"{value}.0f", "half": f"static_cast<half>({value}.0f)"}.get(
        ctype, f"static_cast<{ctype}>({value})"
    )


def _ctype(array: np.ndarray) -> str:
    return _CTYPES[array.dtype.name]
