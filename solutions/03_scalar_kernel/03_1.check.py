"""03.1: which groups belong to which core."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gn_tutorial.compare.elements import constant, spots
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import KernelCase, KernelChecker, Trap
from gn_tutorial.operators.result import Result


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
    """Return a case in which the core with the last group writes past the end of owner: the twin names that core.

    Otherwise a kernel could number its cores as it likes, and write those numbers to owner.
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
    # Cores that write one place are a race; in a run one core after the other, the last core owns all groups.
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


CHECK = KernelChecker(
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
