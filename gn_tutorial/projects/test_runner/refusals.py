"""Checks of an aclnn function's two calls. A refused call gets a status of docs/host-api.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gn_tutorial.errors import ArgumentError
from gn_tutorial.operators.arguments import as_dtype
from gn_tutorial.projects.aclnn import AclnnArgument, AclnnFunction
from gn_tutorial.projects.test_runner.call_values import TYPE_NAMES, Mark, SentTensor
from gn_tutorial.projects.tiling_plan import PlanNote

NULL_POINTER, INVALID, TILING_FAILED, NO_KERNEL = 161001, 161002, 561002, 561003


class TooLarge(ArgumentError):
    """The error for a launch whose tensors together have more bytes than ``most_bytes``."""


class RefusedCall(Exception):
    """Raised to refuse a call. status: the number that the program gets. note: the reason in words."""

    def __init__(self, status: int, note: PlanNote) -> None:
        super().__init__(note.what)
        self.status, self.note = status, note


def call_note(rule: str, what: str, fix: str = "", severity: str = "warning") -> PlanNote:
    """Return a note on a call. severity: ignored for a rule that refuses the call, whose note has severity error.

    These are the rules that begin with ``aclnn-``, except for ``aclnn-view`` (strides).
    """
    refused = rule.startswith("aclnn-") and rule != "aclnn-view"
    return PlanNote(rule, what, "", fix, "error" if refused else severity)


def check_argument(function: AclnnFunction, argument: AclnnArgument, value: Any) -> None:
    """Raise RefusedCall for a null pointer, a destroyed object, or a tensor of an unknown dtype or without memory.

    An optional argument may be a null pointer, and a tensor without elements needs no memory.
    """
    label = f"{function.name}: '{argument.name}'"
    if value is Mark.NONE and not argument.optional:
        what = f"{label} is a null pointer"
        hint = "check the return value of aclCreateTensor, or of the function that made it"
        raise RefusedCall(NULL_POINTER, call_note("aclnn-null", what, hint))
    for one in value if isinstance(value, list) else [value]:
        if one is Mark.DEAD:
            what = f"{label} was destroyed before the call"
            raise RefusedCall(
                INVALID, call_note("aclnn-destroyed", what, "destroy it after the stream is synchronised")
            )
        if isinstance(one, SentTensor) and not one.dtype:
            hint = f"one of {', '.join(sorted(TYPE_NAMES.values()))}"
            raise RefusedCall(
                INVALID, call_note("aclnn-dtype", f"{label} has a type that the twin's kernels do not have", hint)
            )
        if isinstance(one, SentTensor) and not one.has_data and 0 not in one.shape:
            what = f"{label} has elements, and its data is a null pointer"
            raise RefusedCall(NULL_POINTER, call_note("aclnn-null", what, "allocate it with aclrtMalloc before"))


def check_size(function: AclnnFunction, tensors: Sequence[tuple[AclnnArgument, SentTensor]], most_bytes: int) -> None:
    """Raise TooLarge if the tensors together have more than ``most_bytes`` bytes; 0 means no limit."""
    many = sum(int(np.prod(one.shape, dtype=np.int64)) * as_dtype(one.dtype).itemsize for _, one in tensors)
    if most_bytes and many > most_bytes:
        raise TooLarge(
            f"{function.name}: {many / 1e6:,.1f} MB of tensors, more than {most_bytes / 1e6:,.1f} MB",
            hint=f"it would take long; most_bytes={many} runs it, and observed=False without checks is quicker",
        )


def workspace_note(name: str, wanted: int, kind: str, asked: int, room: int) -> PlanNote | None:
    """Return a note if the workspace passed to a second call is wrong, else None.

    wanted: bytes that tiling asks for. kind: the memory to which the workspace pointer points (host, null or device).
    asked: the call's workspaceSize. room: bytes that were allocated at the pointer.
    """
    if kind == "host":
        what = f"{name} is given a workspace that is not device memory, such as the pointer's own address"
        hint = "pass workspace, not &workspace; a null pointer where the size is 0"
        # If tiling wants 0 bytes, nothing reads the pointer, not even on a device. Well-known samples pass a wrong one.
        return call_note("workspace-address", what, hint, "error" if wanted else "warning")
    if wanted and kind == "null":
        return call_note("workspace-missing", f"{name} is given no workspace, and tiling asks for {wanted:,} bytes")
    if wanted and room < wanted:
        what = f"{name} is given a workspace of {room:,} bytes, and tiling asks for {wanted:,}"
        return call_note("workspace-too-small", what, "allocate what the first call says", "error")
    if asked < wanted:
        return call_note(
            "workspace-size", f"{name} is called with workspaceSize {asked:,}, and tiling asks for {wanted:,} bytes"
        )
    return None
