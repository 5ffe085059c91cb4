"""07.1: pieces of a row in slots."""

from __future__ import annotations

import numpy as np

from gn_tutorial.abi.trace import Kind, Pipe
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker
from gn_tutorial.diagnostics.findings import Diagnostic
from gn_tutorial.operators.result import Result

_PIECE, _SLOTS = 512, 4  # of 07.1


def _slot_cases(rng: np.random.Generator) -> list[KernelCase]:
    # Less than a piece; pieces and a shorter one; as many as there are slots; more, so that some are loaded again.
    shapes = [(1, 192, 1), (2, 1216, 1), (3, 2048, 2), (1, 3008, 1), (3, 2560, 1), (2, 5120, 2)]
    shapes += [(int(rng.integers(3, 6)), 64 * int(rng.integers(9, 80)), int(rng.integers(1, 4))) for _ in range(2)]
    return [_slot_case(rng, *shape) for shape in shapes]


def _slot_case(rng: np.random.Generator, rows: int, length: int, cores: int) -> KernelCase:
    """Return a case in which each row, and each piece of a row, has a mean of its own."""
    x = rng.standard_normal((rows, length)) + np.linspace(-3, 4, length) + 5 * np.arange(1, rows + 1)[:, None]
    x = x.astype(np.float32)
    wide = x.astype(np.float64)
    y = (wide - wide.mean(axis=1, keepdims=True)).astype(np.float32)
    pieces = -(-length // _PIECE)
    label = (
        f"{rows} row{'s' * (rows > 1)} of {length} floats, {pieces} piece{'s' * (pieces > 1)} each, "
        f"on {cores} core{'s' * (cores > 1)}"
    )
    return KernelCase(label, {"x": x}, {"rows": rows, "length": length}, {"y": y}, cores)


def _which_mean(case: KernelCase, result: Result) -> str | None:
    x, y = case.inputs["x"].astype(np.float64), result["y"].astype(np.float64)
    if unwritten(result["y"]).all():
        return "nothing comes to y: Row has to load the pieces of its row, and to store them"
    if unwritten(result["y"]).any():
        at = int(unwritten(result["y"]).reshape(x.shape)[0].argmax()) // _PIECE
        return (
            f"piece {at} of a row never comes to y: those that stayed leave first, and then those that come again, "
            "piece 0 and on"
        )
    rows, length = x.shape
    pieces = [x[:, at : at + _PIECE] for at in range(0, length, _PIECE)]
    running = np.array([x[row % case.blocks : row + 1 : case.blocks].sum() for row in range(rows)])
    # The number that was subtracted from each row, if it is the same for the whole row.
    lowered = x - y
    if np.abs(lowered - lowered[:, :1]).max() > 1e-3:
        return (
            "the floats of a piece stand in the place of another one: piece p of a row is in slot "
            "(before + p) % kSlots, and of a row with more pieces than slots the first that stays is pieces_ - kSlots"
        )
    known = [
        (np.zeros(rows), "y is x: no mean was taken off, or AddUp adds nothing to sums_"),
        (x.sum(axis=1), "the sum of the row was taken off: its mean is the sum divided by length_"),
        (x.sum(axis=1) / (len(pieces) * _PIECE), "the sum was divided by whole pieces; the last one may be shorter"),
        (
            running / length,
            "the sums of a row hold those of the rows before it: sums_ is set to 0 for each row, and not once",
        ),
        (
            pieces[-1].sum(axis=1) / length,
            "only the last piece is in the sum: sums_ is set to 0 once for a row, and each piece is added",
        ),
        (
            sum(piece.sum(axis=1) for piece in pieces[-_SLOTS:]) / length,
            "only the pieces that stay are in the sum: all pieces of a row are",
        ),
    ]
    for values, words in known:
        if not np.allclose(values, x.mean(axis=1), rtol=1e-3) and np.allclose(lowered[:, 0], values, rtol=1e-3):
            return words
    return None


def _read_once(case: KernelCase, result: Result) -> str | None:
    rows, length = case.inputs["x"].shape
    pieces = -(-length // _PIECE)
    again = max(0, pieces - _SLOTS)
    asked, found = rows * 4 * (length + again * _PIECE), result.tally.bytes_in
    if found > asked:
        return (
            f"the numbers are right, but {found} bytes come in, and {asked} are enough: of a row of {pieces} pieces "
            f"{min(pieces, _SLOTS)} are still in their slots when the mean is known, and {again} come again"
        )
    if found < asked:
        return "the numbers are right, but x does not come through the slots"
    ahead = min(pieces, _SLOTS)
    for events in (result.trace.blocks if result.trace else {}).values():
        loaded = 0
        for event in events:
            loaded += event.kind is Kind.COPY and event.pipe is Pipe.MTE2
            if event.kind is Kind.WAIT_FLAG and event.flag == "MTE2_V":
                if loaded < ahead:
                    return (
                        f"the numbers are right, but V waits for the first piece when {loaded} of {ahead} copies are "
                        "on their way: first load all slots, then wait for one after the other"
                    )
                break
    return None


def _too_early(case: KernelCase, fault: Diagnostic) -> str:
    """Return why a slot is overwritten too early: by the next copy in, or by V."""
    rows, length = case.inputs["x"].shape
    if not fault.fields.get("pipe", "").endswith("V"):
        return "a copy comes into a slot that is still needed: Drop or Store the piece in it before the next Load"
    if rows <= case.blocks and length > _SLOTS * _PIECE:
        return (
            "V changes a slot whose piece is still leaving. Either V does not wait for MTE2_V of each piece, also for "
            "one that comes again; or the others are loaded too early: pieces_ - kSlots and those after it are centred "
            "and stored first, since Load takes the next slot, and one of them still lies there"
        )
    return f"V changes a slot whose piece is still leaving: {_slot_of_second_row(case)}"


def _no_flag(case: KernelCase, _: Diagnostic) -> str:
    words = "the wait comes before the Load that sets its flag, or a second time for one piece"
    rows = case.inputs["x"].shape[0]
    return f"{words}: {_slot_of_second_row(case)}" if rows > case.blocks else words


def _slot_of_second_row(case: KernelCase) -> str:
    length = case.inputs["x"].shape[1]
    pieces = -(-length // _PIECE)
    loaded = pieces + max(0, pieces - _SLOTS)
    return (
        f"piece p of a row is in slot (before + p) % kSlots, not p % kSlots. When a core's second row begins here, "
        f"{loaded} piece{'s' * (loaded > 1)} have been loaded, so its piece 0 is in slot {loaded % _SLOTS}"
    )


CHECK = KernelChecker(
    _slot_cases,
    # Float32 sums of some thousand numbers of about 10, in parts and then a tree.
    rtol=1e-4,
    atol=1e-4,
    symptoms=(_which_mean,),
    demands=(_read_once,),
    faults={
        "race-read-after-write": "V takes a piece that may not have arrived: it waits for the flag MTE2_V of its slot, "
        "for each piece, also for one that comes again",
        "race-write-after-read": _too_early,
        "race-write-after-write": "a copy comes into a slot whose piece nobody has taken yet: no more pieces are on "
        "their way than there are slots",
        "flag-set-twice": "a slot's flag is set a second time before anybody has waited for it: wait once for each "
        "piece that was loaded, and drop or store it once",
        "flag-wait-unset": _no_flag,
        "flag-never-awaited": "a piece was loaded for which nobody waited: as many waits as pieces that came in",
        "ub-never-written": "an instruction reads what nobody wrote: sums_ is set to 0 for each row, parts_ gets "
        "count / 8 sums, and a slot holds what was loaded into it",
        "gm-out-of-bounds": "a piece behind the end of the row is loaded: a row has pieces_ pieces",
        "gm-beyond-declared-size": "a piece behind the end of the row is loaded: a row has pieces_ pieces",
    },
    auto_sync=True,
    traced=True,
)
