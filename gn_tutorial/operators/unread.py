"""Inputs of a launch that were not read, or not to their end: a wrong address or offset of a copy in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from gn_tutorial.diagnostics.findings import Diagnostic


def unread(notes: Iterable[Diagnostic], inputs: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """A sentence about each input that no copy and no GetValue has read, or of which they have left out an end.

    notes: of the launch. Whole numbers are left out, because a tiling struct is one such array, which a kernel reads
    through a pointer.
    """
    said = []
    for note in notes:
        name, first, end, size = (note.fields.get(key) for key in ("argument", "first", "end", "of"))
        if note.id != "gm-input-unread" or name not in inputs or inputs[name].dtype.kind in "biu":
            continue
        if end == 0:
            said.append(
                f"no copy and no GetValue has read {name}: look at what its GlobalTensor was given by SetGlobalBuffer,"
                " and at where each tensor is copied from"
            )
            continue
        parts = [f"before element {first}"] if first else []
        parts += [f"from element {end} on"] if end < size else []
        said.append(
            f"no copy and no GetValue has read {name} {' and '.join(parts)} ({size} in all): if all of it is needed,"
            " look at where each block and each tile begins to read"
        )
    return tuple(said)
