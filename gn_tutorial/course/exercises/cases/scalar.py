"""03.1: which groups belong to which core. 03.2: the mean of a row. 03.3: how many scalar accesses there are."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from gn_tutorial.abi.options import TwinOptions
from gn_tutorial.compare.elements import constant, spots
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker, Trap, unwritten
from gn_tutorial.course.exercises.check_predict import PredictChecker, Prediction
from gn_tutorial.operators.kernel import kernel
from gn_tutorial.operators.result import Result
from gn_tutorial.runtime.launch_types import Tally

_CHUNK = 256  # kChunk of the exercise's kernel


def _offset_cases(rng: np.random.Generator) -> list[KernelCase]:
    shapes = [(3, 1), (6, 3), (7, 3), (9, 4), (2, 5), (40, 16)]
    shapes += [(int(rng.integers(20, 200)), int(rng.integers(3, 20))) for _ in range(2)]
    return [*(_offset_case(groups, cores) for groups, cores in shapes), _trap_case(7, 3)]


def _offset_case(groups: int, cores: int) -> KernelCase:
    counts = [groups // cores + (core < groups % cores) for core in range(cores)]
    owner = np.repeat(np.arange(cores), counts).astype(np.int32)
    return KernelCase(
        f"{groups} groups on {cores} core{'s' * (cores > 1)}", {}, {"groups": groups}, {"owner": owner}, cores
    )


def _trap_case(groups: int, cores: int) -> KernelCase:
    """The core that has the last group falls over the end of owner: the twin says who that really is.

    Without it a kernel could number its cores as it likes, and write those numbers to owner.
    """
    case = _offset_case(groups, cores)
    last = cores - 1
    words = (
        f"the last group belongs to core {last}, and it was taken by another one: by GetBlockIdx() it is core "
        "{block}. Leave core_ as it is"
    )
    return replace(
        case,
        label=f"{case.label}, the last one without a place in owner",
        expected={"owner": case.expected["owner"][:-1]},
        trap=Trap("gm-out-of-bounds", last, words),
    )


def _everybody(case: KernelCase, result: Result) -> str | None:
    groups = case.expected["owner"].size
    # Two cores on one place are a race; looked at in order, the last core is the owner of all.
    if case.blocks > 1 and (result["owner"] == case.blocks - 1).all():
        return f"every core works on all {groups} groups: nothing is divided"
    return None


def _same_owner(case: KernelCase, result: Result) -> str | None:
    owner = result["owner"]
    if constant(owner) and not unwritten(owner).any():
        return f"owner is {owner[0]} everywhere, and not the number of the core that wrote it"
    return None


def _nobody(case: KernelCase, result: Result) -> str | None:
    holes = unwritten(result["owner"])
    if not holes.any() or holes.all():
        return None
    owner = case.expected["owner"]
    count = int(holes.sum())
    left = f"{count} of {holes.size} groups belong{'s' * (count == 1)} to no core ({spots('owner', holes)})"
    missing, over = set(np.flatnonzero(holes)), holes.size % case.blocks
    if over and missing == set(range(holes.size - over, holes.size)):
        return f"{left}: what the division leaves over"
    if missing == set(np.flatnonzero(np.diff(owner, append=case.blocks))):
        return f"{left}: last_ is the group behind the last one of a core, not the last one itself"
    if holes[0]:
        return f"{left}: core 0 begins too late; no core is before it, so its first group is group 0"
    return f"{left}: each core begins where the one before it ends"


def _unbalanced(case: KernelCase, result: Result) -> str | None:
    owner = result["owner"]
    if unwritten(owner).any() or owner.min() < 0 or owner.max() >= case.blocks:
        return None
    counts = np.bincount(owner, minlength=case.blocks)
    most, least = int(counts.argmax()), int(counts.argmin())
    if counts[most] - counts[least] > 1:
        return (
            f"the work is not balanced: core {most} has {counts[most]} groups and core {least} has {counts[least]}; "
            "no core has more than one group above another"
        )
    if (np.diff(owner) < 0).any():
        return "the cores' groups are mixed: the groups of one core lie next to each other"
    return "balanced, but not as asked: the first cores take one more, the later ones do not"


def _twice(case: KernelCase, result: Result) -> str | None:
    writes, groups = result.tally.mte3, case.expected["owner"].size
    if writes > groups:
        return f"{writes - groups} groups are worked on twice by their own core"
    return None


CORE_OFFSETS = KernelChecker(
    _offset_cases,
    rtol=0.0,
    atol=0.0,
    symptoms=(_everybody, _same_owner, _nobody, _unbalanced),
    demands=(_twice,),
    faults={
        "race-blocks": "a group is worked on twice, by two cores: where one core ends the next one begins",
        "gm-out-of-bounds": "a core goes past the last group",
        "gm-beyond-declared-size": "a core goes past the last group",
    },
)


def _mean_cases(rng: np.random.Generator) -> list[KernelCase]:
    # 8 and 13: less than a chunk. 256: one. 300 and 777: chunks and a tail. The offset keeps means away from zero.
    shapes = [(2, 8, 1), (3, 13, 1), (2, 256, 2), (3, 300, 2), (5, 777, 3)]
    shapes += [(int(rng.integers(2, 7)), int(rng.integers(257, 1500)), int(rng.integers(1, 5))) for _ in range(2)]
    return [_mean_case(rng, *shape) for shape in shapes]


def _mean_case(rng: np.random.Generator, rows: int, length: int, cores: int) -> KernelCase:
    x = (rng.standard_normal((rows, length)) + np.linspace(1, 3, length) + np.arange(rows)[:, None]).astype(np.float32)
    label = f"{rows} rows of {length} floats on {cores} core{'s' * (cores > 1)}, chunks of {_CHUNK}"
    mean = x.astype(np.float64).mean(axis=1).astype(np.float32)
    return KernelCase(label, {"x": x}, {"rows": rows, "length": length}, {"mean": mean}, cores)


def _which_sum(case: KernelCase, result: Result) -> str | None:
    x, got = case.inputs["x"].astype(np.float64), result["mean"].astype(np.float64)
    length = x.shape[1]
    tail = length % _CHUNK or _CHUNK
    if not got.any() and length < _CHUNK:
        return f"every mean is 0: nothing is in the sum, not even the tail, which is all that a row of {length} has"
    whole = length - length % _CHUNK
    of_chunks = np.stack([x[:, at : at + _CHUNK].mean(axis=1) for at in range(0, length, _CHUNK)])
    total = got * length
    whole_sum = got.any() and (np.abs(total - np.round(total)) <= 1e-6 * np.abs(total)).all()
    near = (got == np.round(got)).all() and (np.abs(got - case.expected["mean"]) < 1.5).all()
    if whole_sum and (near or not constant(got)):
        return "the sum is a whole number: what stands behind the point is lost, as an int does; let the sum be a float"
    known = [
        (of_chunks.mean(axis=0), "this is the mean of the chunks' means; the last chunk is shorter and weighs less"),
        (x.sum(axis=1), "this is the sum of the row: divide it by the number of elements"),
        (
            x.sum(axis=1) / _CHUNK,
            f"the sum is divided by the chunk ({_CHUNK}), not by the length of the row ({length})",
        ),
        (x[:, -tail:].sum(axis=1) / length, "only the last chunk is in the sum: it starts again at each chunk"),
        (x[:, :_CHUNK].sum(axis=1) / length, "only the first chunk is in the sum"),
        (
            x[:, :whole].sum(axis=1) / length,
            f"the last {tail} elements of each row are not in the sum: the tail is skipped",
        ),
    ]
    for values, words in known:
        if np.allclose(got, values, rtol=1e-4, atol=1e-6):
            return words
    return None


def _in_chunks(case: KernelCase, result: Result) -> str | None:
    if result.tally.bytes_in < case.inputs["x"].nbytes:
        return "the means are right, but the rows do not come through the buffer: Load brings a chunk into it"
    return None


ROW_MEAN = KernelChecker(
    _mean_cases,
    # A float32 sum of at most 1500 numbers, one by one: 1500 roundings of 6e-8 in the worst order.
    rtol=1e-4,
    atol=1e-6,
    symptoms=(_which_sum,),
    demands=(_in_chunks,),
    # With the compiler's own waits nothing that S does could come too early, and no missing wait would be seen.
    options=TwinOptions(auto_sync="off"),
    faults={
        "race-read-after-write PIPE_S": "S reads a chunk while MTE2 may still bring it: behind the copy S has to "
        "wait for MTE2, Sync<MTE2_S>. No wait comes from the compiler here",
        "race-write-after-read PIPE_MTE2": "MTE2 brings the next chunk while S may still read the one before, in the "
        "same buffer: in front of the copy MTE2 has to wait for S, Sync<S_MTE2>. No wait comes from the compiler here",
        "race-read-after-write PIPE_MTE3": "MTE3 takes a mean that S may not have written yet: in front of that copy "
        "MTE3 has to wait for S, Sync<S_MTE3>. No wait comes from the compiler here",
        "race-write-after-read PIPE_S": "S writes the next mean over one that MTE3 may not have copied yet: behind "
        "that copy S has to wait for MTE3, Sync<MTE3_S>. No wait comes from the compiler here",
        "gm-out-of-bounds": "the last chunk of a row reads past the end of x",
        "gm-beyond-declared-size": "the last chunk of a row reads past the end of x",
        "ub-out-of-bounds": "a chunk does not fit its buffer",
        "ub-index": "an element outside the chunk is read",
        "ub-never-written": "an element outside the chunk is read",
    },
)


_SHAPE, _GROUPS = (2, 12, 30, 40), 4  # as the exercise's text says


@functools.cache
def _tally() -> Tally:
    return kernel("group_norm/scalar")(np.ones(_SHAPE, np.float32), num_groups=_GROUPS).tally


SCALAR_ACCESSES = PredictChecker(
    (
        Prediction(
            "scalar_accesses",
            "GetValue and SetValue of the whole launch",
            lambda: _tally().scalar,
            {
                28800: "Look at the loops over i: that is one for each element",
                86400: "The result of each element is written too: that is without SetValue",
                115200: "That is what the elements need; each group has some of its own, and each channel",
                115232: "gamma and beta are read too, of each channel, once in each sample",
                115248: "That is without the groups: a root and two statistics each",
                115256: "gamma and beta are counted for one sample; each sample reads gamma and beta again",
            },
            rule="Add three products: the accesses for an element, for a group, and for a channel of a sample, "
            "times the number of each",
        ),
        Prediction(
            "copies_in",
            "copies from global memory into the Unified Buffer",
            lambda: _tally().mte2,
            {
                32: "The kernel reads each group three times: that is one pass",
                72: "A group of 3600 elements is no multiple of kChunk; the tail of a group is a chunk too",
                12: "That is one group; there are 8",
                48: "That is one sample; there are two",
                144: "Each channel by itself would take 2 * 12 * 2 * 3; a chunk goes across the channels of "
                "its group. Or did you add the copies out?",
                87: "That is all groups in one piece; each group has a tail of its own",
            },
            rule="Groups, times the chunks of a group, times the passes over it",
        ),
        Prediction(
            "copies_out",
            "copies from the Unified Buffer to global memory",
            lambda: _tally().mte3,
            {
                32: "That is y; mean and rstd go back as well",
                96: "Only the last pass writes",
                40: "mean and rstd are two copies for each group",
            },
            rule="The chunks of y, and for each group its mean and its rstd",
        ),
        Prediction(
            "bytes_in",
            "bytes that the copies bring into the Unified Buffer",
            lambda: _tally().bytes_in,
            {
                115200: "The kernel goes over each group three times: that is x once",
                86400: "That is in floats; a float has 4 bytes",
                28800: "That is the number of elements; a float has 4 bytes, and there are three passes",
            },
            rule="The bytes of x, times the passes over it",
        ),
    )
)
