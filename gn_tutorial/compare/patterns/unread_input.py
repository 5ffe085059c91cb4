"""Recognises inputs that the kernel read only in part or not at all, for example because a copy in has a wrong address.

::

    input x     [ read      read      read ]...........      from element 192 on nothing has read it
"""

from __future__ import annotations

from gn_tutorial.compare.evidence import OutputEvidence


def unread_input(seen: OutputEvidence) -> tuple[str, ...]:
    """Return a sentence about each input that was read only in part or not at all. The twin notes what was read.

    Inputs of whole numbers of which nothing was read are left out: a tiling struct is one of them, and a kernel may
    read it through a pointer, which is not seen everywhere.
    """
    said, inputs = [], seen.launch.inputs
    for note in seen.launch.notes:
        name, first, end, size = (note.fields.get(key) for key in ("argument", "first", "end", "of"))
        if note.id != "gm-input-unread" or name not in inputs or (end == 0 and inputs[name].dtype.kind in "biu"):
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
