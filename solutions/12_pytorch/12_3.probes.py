"""Probes of 12.3, which look at an attempt's calls, their arguments, their order and their results.

A probe takes the attempt's names, numbers and texts, and returns a sentence about what is wrong, or None. Its text runs
in the attempt's process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gn_tutorial import host, reference

EPS, GROUPS = 0.01, 3
NAMES = ("x", "weight", "bias")


class Watched(host.Stream):
    """A stream that notes first calls, second calls and waits in ``seen``."""

    def __init__(self, attempt: Any) -> None:
        super().__init__()
        self.seen: list[tuple[str, Any, Any]] = []
        for name in ("first_call", "second_call"):
            self._watch(attempt, name, getattr(host, name))

    def synchronize(self) -> None:
        """Note the call, and wait as a Stream does."""
        self.seen.append(("synchronize", None, None))
        super().synchronize()

    def _watch(self, attempt: Any, name: str, call: Any) -> None:
        call = getattr(call, "real", call)  # an earlier probe may have wrapped it

        def noted(*given: Any, **named: Any) -> Any:
            made = call(*given, **named)
            self.seen.append((name, (*given, *named.values()), made))
            return made

        noted.real = call
        setattr(host, name, noted)
        own = attempt.gradients.__globals__  # for an attempt that imports the functions themselves
        own.update({key: noted for key, one in own.items() if getattr(one, "real", one) is call})

    def order(self) -> list[str]:
        """Return the names of the noted calls, in their order."""
        return [name for name, _, _ in self.seen]

    def of(self, name: str) -> list[tuple[Any, Any]]:
        """Return the arguments and the result of each call of this name."""
        return [(given, made) for seen, given, made in self.seen if seen == name]


def computes(attempt: Any, seed: int, shape: str, mask: str = "111", weighted: int = 1) -> str | None:
    """Check that the attempt computes the gradients that the mask selects, by one plan, and waits for them."""
    wanted = [one == "1" for one in mask]
    given = data([int(one) for one in shape.split()], seed, bool(weighted))
    with Watched(attempt) as stream:
        got = attempt.gradients(*given, GROUPS, wanted, stream)
        return _of_calls(stream, wanted) or _of_results(
            got, reference.group_norm_backward(*given, num_groups=GROUPS), wanted
        )


def refuses(attempt: Any, seed: int, num_groups: int, code: int) -> str | None:
    """Check that a refusal of the first call becomes a ValueError with its code, without a second call."""
    given = data([3, 6, 5], seed, True)
    if code == 161001:
        given[3] = None
    with Watched(attempt) as stream:
        try:
            attempt.gradients(*given, num_groups, [True] * 3, stream)
        except ValueError as error:
            if str(code) not in str(error):
                return f"the ValueError says {str(error)!r}; {code} belongs into it, and the message of the first call"
        else:
            asked = [made for _, made in stream.of("first_call")]
            if not any(made.code for made in asked):
                return f"no call was refused: the call got another num_groups than {num_groups}; pass the argument on"
            return f"the first call returned {code}, and gradients returned as if it had not: raise ValueError"
        if stream.of("second_call"):
            return f"the first call returned {code}, and the second one was made all the same: there is no plan for it"
    return None


def _of_calls(stream: Watched, wanted: Sequence[bool]) -> str | None:
    order, firsts, seconds = stream.order(), stream.of("first_call"), stream.of("second_call")
    if not firsts:
        return "first_call is not made: it checks the arguments and plans"
    given, made = firsts[-1]
    if made.code:
        told = f"the first call returned {int(made.code)} ({made.message})"
        return f"{told}; the arguments of gradients are right, so what did you pass on?"
    if list(given[10]) != list(wanted):
        return f"the mask is {list(wanted)}, and the first call was given {list(given[10])}"
    for name, one, needed in zip(NAMES, given[11:], wanted, strict=False):
        if one is not None and not needed:
            return f"nobody asks for the gradient of {name}, but an array was made for it: pass None"
    if not seconds:
        return "second_call is not made: without it the plan is never executed"
    codes = [int(code) for _, code in seconds]
    if codes[0] == 161002:
        (_, workspace, *_), _ = seconds[0]
        size = 0 if workspace is None else workspace.nbytes
        if size < made.workspace_size:
            said = made.workspace_size
            return f"the second call returned 161002: its workspace has {size} bytes, and the first said {said}"
    if codes[0]:
        return f"the second call returned {codes[0]}, but the code was not checked"
    if len(seconds) > 1:
        times = f"second_call is made {len(seconds)} times for one plan"
        return f"{times}; the last one returned {codes[-1]}: a plan is used once"
    if "synchronize" not in order[order.index("second_call") :]:
        early = ": synchronize waits only for work that was queued before it" if "synchronize" in order else ""
        return f"gradients returns, and its work may still be in the queue: nothing waits after the second call{early}"
    return None


def _of_results(got: Any, want: Sequence[np.ndarray], wanted: Sequence[bool]) -> str | None:
    if not isinstance(got, (tuple, list)) or len(got) != 3:
        return "gradients returns three things: the gradients of x, weight and bias, or None"
    for name, one, right, needed in zip(NAMES, got, want, wanted, strict=True):
        if not needed:
            if one is not None:
                return f"nobody asks for the gradient of {name}: None belongs there"
            continue
        if not isinstance(one, np.ndarray) or one.shape != right.shape:
            return f"the gradient of {name} has shape {getattr(one, 'shape', None)}; {right.shape} is right"
        if not np.allclose(one, right, rtol=1e-3, atol=1e-3):
            return (
                f"the gradient of {name} is wrong by up to {np.abs(one - right).max():.2g}: is each array in its place?"
            )
    return None


def data(shape: Sequence[int], seed: int, weighted: bool) -> list[Any]:
    """Return grad_y, x, mean, rstd and weight, without symmetry, float32; without ``weighted``, weight is None."""
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal(shape) * 2 + np.arange(shape[1]).reshape(-1, *[1] * (len(shape) - 2))).astype(np.float32)
    rows = x.reshape(shape[0], GROUPS, -1).astype(float)
    mean, rstd = rows.mean(2), 1 / np.sqrt(rows.var(2) + EPS)
    weight = (rng.standard_normal(shape[1]) + 1.5).astype(np.float32) if weighted else None
    grad_y = (rng.standard_normal(shape) + 0.5).astype(np.float32)
    return [grad_y, x, mean.astype(np.float32), rstd.astype(np.float32), weight]
