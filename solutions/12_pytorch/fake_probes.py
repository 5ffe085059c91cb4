"""Probes of the fakes in 12.1 and 12.2, which compare a fake's results with its operator's, and look at its calls.

A probe takes the attempt's names, its operator's name and a seed, and returns a sentence about what is wrong, or
None. Its text runs in the attempt's process, behind that of probe_data.py; no other module is imported there.
"""

from __future__ import annotations

import inspect
import itertools
import traceback
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .probe_data import EPS, INPUTS, RESULTS, Calls, Said, data, line_of

#: Operator -> the name of its fake in the exercise's file.
_FAKES = {
    "rms_norm": "rms_norm_fake",
    "rms_norm_backward": "rms_norm_backward_fake",
    "layer_norm": "_fake",
    "layer_norm_backward": "_backward_fake",
}
#: Operators that make a tensor and read none, by how their names begin.
_MAKERS = ("empty", "new_empty", "zeros", "new_zeros", "ones", "new_ones", "full", "new_full")


def forward_fake(attempt: Any, op: str, seed: int) -> Said:
    """Compare what the fake returns with what the operator returns."""
    for dtype, turned in itertools.product((torch.float32, torch.float16), (False, True)):
        given = data(op, seed, dtype, turned)
        kind = f"x is {_name(dtype)}{' and transposed' if turned else ''}"
        said = _beside(attempt, op, (*given, EPS), RESULTS[op], kind)
        if said:
            return said
    return None


def fake_defaults(attempt: Any, op: str, seed: int) -> Said:
    """Call the fake without eps, and with the value that eps has by default; then read its parameters."""
    given = data(op, seed, torch.float32)
    default = 1e-6 if op == "rms_norm" else 1e-5
    for more in ((), (default,)):
        try:
            getattr(attempt, op)(*(one.to("meta") for one in given), *more)
        except TypeError as error:
            return (
                f"without eps, or with its default, the fake is called without eps ({error}): PyTorch's dispatcher "
                "leaves out what equals the default, so every function repeats it"
            )
    return _parameters(attempt, op, default)


def backward_fake(attempt: Any, op: str, seed: int) -> Said:
    """The same as forward_fake for the backward operator, under every mask."""
    names = tuple(f"the gradient of {name}" for name in INPUTS[op])
    for mask in itertools.product((True, False), repeat=len(names)):
        for dtype, turned in ((torch.float32, True), (torch.float16, False)):
            given = data(op, seed, dtype, turned)
            saved = getattr(attempt, op)(*given, EPS)[1:]
            call = (torch.ones_like(given[0]), given[0], *saved, given[1], list(mask))
            said = _beside(attempt, f"{op}_backward", call, names, f"the mask is {list(mask)}")
            if said:
                return said
    return _parameters(attempt, f"{op}_backward", None)


def _beside(attempt: Any, op: str, call: Sequence[Any], names: Sequence[str], kind: str) -> Said:
    """Return how the fake's results differ from the operator's, for the same call without numbers."""
    empty = [one.to("meta") if isinstance(one, Tensor) else one for one in call]
    said = _by_itself(attempt, op, empty, names)
    if said:
        return said
    function = getattr(attempt, op)
    for name, one, other in zip(names, function(*call), function(*empty), strict=True):
        if (one is None) != (other is None):
            return f"where {kind}, the operator returns {_text(one)} for {name}, but the fake returns {_text(other)}"
        if one is None:
            continue
        for fact, own, told in (
            (f"the shape of {name} is", tuple(one.shape), tuple(other.shape)),
            (f"the dtype of {name} is", _name(one.dtype), _name(other.dtype)),
            (f"the strides of {name} are", one.stride(), other.stride()),
        ):
            if own != told:
                return f"where {kind}, {fact} {own}, but the fake says {told}"
        if other.device.type != "meta":
            return f"the fake puts {name} on {other.device}, where its inputs are not: take the device from x"
    return None


def _by_itself(attempt: Any, op: str, call: Sequence[Any], names: Sequence[str]) -> Said:
    """Call the fake as a function, so that its mistakes are not taken for the operator's."""
    title = _FAKES[op]
    fake = getattr(attempt, title, None)
    if not callable(fake):
        return f"there is no function {title}; keep its name"
    with Calls() as calls:
        try:
            made = fake(*call)
        except (
            RuntimeError,
            TypeError,
        ) as error:  # also a RecursionError, and the stub's NotImplementedError
            if any(one.name() == f"exercise::{op}" for one in calls.functions):
                return _calls_itself(title, op), _line(error, fake)
            if "meta" not in str(error):
                raise
            return _reads(title, error), _line(error, fake)
    if any(one.name() == f"exercise::{op}" for one in calls.functions):
        return _calls_itself(title, op), line_of(fake)
    results = f"{', '.join(names[:-1])} and {names[-1]}"
    if made is None:
        return f"{title} returns None: is there a return? It returns {results}", line_of(fake)
    if not isinstance(made, (tuple, list)) or len(made) != len(names):
        several = f"{len(made)} results" if isinstance(made, (tuple, list)) else f"one {type(made).__name__}"
        return f"{title} returns {several}; it returns {results}, in a tuple", line_of(fake)
    for name, one in zip(names, made, strict=True):
        if one is not None and not isinstance(one, Tensor):
            return f"{title} returns {type(one).__name__} for {name}, and not a tensor", line_of(fake)
    computed = next((one for one in calls.functions if not _makes(one)), None)
    if computed is not None:
        return (
            f"{title} computes: it asks for {_short(computed)}. A fake reads shapes, "
            "and makes empty tensors of the right shape, dtype and device at once: in a graph there are no numbers yet"
        ), line_of(fake)
    return None


def _parameters(attempt: Any, op: str, eps: float | None) -> Said:
    """Return a complaint if the fake's parameters differ from the operator's."""
    fake = getattr(attempt, _FAKES[op])
    for one in inspect.signature(fake).parameters.values():
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            stars = "*" if one.kind is one.VAR_POSITIONAL else "**"
            return (
                f"{_FAKES[op]} takes {stars}{one.name}, which fits any call: a fake names the operator's "
                "arguments, one by one, so that it fails when the two no longer agree"
            ), line_of(fake)
        if one.name == "eps" and one.default != eps:
            return (
                f"{_FAKES[op]} has eps = {one.default!r} by default, and the operator has eps = {eps!r}: every "
                "function repeats the same one"
            ), line_of(fake)
    return None


def _makes(function: Any) -> bool:
    """Whether an operator only makes a tensor, or looks at one in another way."""
    results = [one.alias_info for one in function._schema.returns]
    view = bool(results) and all(one is not None and not one.is_write for one in results)
    return view or _short(function).startswith(_MAKERS)


def _short(function: Any) -> str:
    """An operator's name without its namespace and overload."""
    return function.name().partition("::")[2].partition(".")[0]


def _line(error: Exception, fake: Any) -> int:
    """The line of the attempt that an error came from."""
    file = fake.__code__.co_filename
    return [one.lineno or 0 for one in traceback.extract_tb(error.__traceback__) if one.filename == file][-1]


def _calls_itself(title: str, op: str) -> str:
    return (
        f"{title} calls {op}, its own operator. Where there are no numbers the operator asks its fake, which calls the "
        "operator, and so on: make empty tensors instead"
    )


def _reads(title: str, error: Exception) -> str:
    text = str(error).splitlines()[0].partition(". ")[0].rstrip(".;, ")
    return (
        f"{title} asks for the numbers of a tensor, and there are none: it is given shapes only (PyTorch says: {text})"
    )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _text(one: Tensor | None) -> str:
    return "None" if one is None else "a tensor"
