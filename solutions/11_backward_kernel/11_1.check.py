"""11.1: dgamma and dbeta in two stages.

A run without checks, one core after the other, shows in its numbers what a core wiped out or did too early; the trace
shows which cores took part.
"""

from __future__ import annotations

import numpy as np

from gn_tutorial.abi.trace import Access
from gn_tutorial.compare.patterns.unwritten import unwritten
from gn_tutorial.course.exercises.check_kernel import WAITING_CORES, KernelCase, KernelChecker
from gn_tutorial.operators.result import Result

from .channel_sums import FLOAT, TILE, case_label, copying_blocks, core_sums, matrix

_PAST_THE_END = (
    "a copy goes past the end of the workspace: it has a row for each core, and not for each sample, and in a row "
    "dbeta's share lies `channels` floats behind dgamma's"
)

_SAME_CHANNELS = (
    "several cores write the same channels of {}: a share belongs into the core's own row of the workspace, and in the "
    "second stage each tile of channels to one core"
)


def _two_stage_cases(rng: np.random.Generator) -> list[KernelCase]:
    # One core; tiles and a tail; more samples than cores; more cores than samples; more tiles than cores.
    shapes = [(3, 10, 1), (5, 150, 3), (9, 40, 4), (2, 30, 4), (7, 300, 2)]
    shapes += [(int(rng.integers(6, 20)), int(rng.integers(65, 250)), int(rng.integers(3, 8))) for _ in range(2)]
    return [_two_stage_case(rng, *shape) for shape in shapes]


def _two_stage_case(rng: np.random.Generator, samples: int, channels: int, cores: int) -> KernelCase:
    dy = matrix(rng, samples, channels)
    xhat = rng.uniform(-1.0, 2.0, dy.shape).astype(np.float32)
    product = dy.astype(np.float64) * xhat
    expected = {"dgamma": product.sum(axis=0), "dbeta": dy.astype(np.float64).sum(axis=0)}
    return KernelCase(
        case_label(samples, channels, cores),
        {"dy": dy, "xhat": xhat},
        {"samples": samples, "channels": channels},
        {name: values.astype(np.float32) for name, values in expected.items()},
        cores,
        workspace={"workspace": 2 * cores * channels * FLOAT},
    )


def _which_shares(case: KernelCase, result: Result) -> str | None:
    dgamma, dbeta = result["dgamma"], result["dbeta"]
    if unwritten(dgamma).all() and unwritten(dbeta).all():
        return "nothing comes to dgamma and dbeta: the second stage has to add up the rows of the workspace"
    if case.blocks > 1 and np.isnan(dgamma[~unwritten(dgamma)]).any():
        return (
            "a core adds up rows of the workspace that other cores have not written yet: before the second stage all "
            "cores have to meet"
        )
    dy = case.inputs["dy"].astype(np.float64)
    gammas, betas = (core_sums(one, case.blocks) for one in (dy * case.inputs["xhat"], dy))
    owner = np.arange(dy.shape[1]) // TILE % case.blocks
    lanes = np.arange(dy.shape[1])
    later = np.array([[shares[core:].sum(axis=0) for core in range(case.blocks)] for shares in (gammas, betas)])
    table = np.stack([gammas, betas], axis=1).reshape(2 * case.blocks, -1)  # the rows, as they lie
    both = "the rows of two cores overlap: a row has `channels` floats of dgamma and as many of dbeta"
    if case.blocks == 1 and not dgamma.any() and not dbeta.any():
        return "no share is added: the second stage takes the rows of all cores, from core 0 on"
    known = [
        (betas.sum(0), gammas.sum(0), "dgamma and dbeta have changed places"),
        (
            gammas[-1],
            betas[-1],
            "only the share of the last core is left: either every core writes its share to one place, or the sums "
            "begin anew with every core",
        ),
        (
            gammas[0],
            betas[0],
            "only the share of core 0 is in the result: the second stage takes the rows of all cores",
        ),
        (
            gammas[owner, lanes],
            betas[owner, lanes],
            "each core has only its own share in the result: the second stage takes the rows of all cores",
        ),
        (
            case.blocks * gammas[owner, lanes],
            case.blocks * betas[owner, lanes],
            "each core adds its own row as often as there are cores: the row has to change from step to step",
        ),
        (
            gammas[:-1].sum(0),
            betas[:-1].sum(0),
            "the share of the last core is missing: the second stage takes the rows of all cores",
        ),
        (
            later[0, owner, lanes],
            later[1, owner, lanes],
            "the second stage begins with the core's own row: it takes the rows of all cores, from core 0 on",
        ),
        (
            (gammas * betas).sum(0),
            gammas.sum(0),
            "the second stage multiplies the shares: the products were taken in the first one, and shares are added up",
        ),
        (
            table[: case.blocks].sum(0),
            table[1 : case.blocks + 1].sum(0),
            "the second stage looks for the rows at core * channels: a core's row begins at 2 * core * channels",
        ),
        (gammas.sum(0), gammas[1:].sum(0) + betas[-1], both),
        (gammas[0] + betas[:-1].sum(0), betas.sum(0), both),
        (gammas.sum(0), gammas.sum(0), "dbeta holds what belongs to dgamma: its share begins `channels` floats later"),
    ]
    for dgammas, dbetas, words in known:
        if np.allclose(dgamma, dgammas, rtol=1e-4, atol=1e-4) and np.allclose(dbeta, dbetas, rtol=1e-4, atol=1e-4):
            return words
    return None


def _both_stages_divided(case: KernelCase, result: Result) -> str | None:
    samples, channels = case.inputs["dy"].shape
    readers, asked = (len(copying_blocks(result, "dy", Access.READ)), min(samples, case.blocks))
    if readers != asked:
        return f"the sums are right, but dy is read by {readers} of {case.blocks} cores: every core takes its samples"
    writers, tiles = (len(copying_blocks(result, "dgamma", Access.WRITE)), -(-channels // TILE))
    if writers < min(tiles, case.blocks):
        return (
            f"the sums are right, but the second stage is done by {writers} of {case.blocks} cores, and there are "
            f"{tiles} tiles of channels: divide them"
        )
    asked = 2 * case.inputs["dy"].nbytes + case.workspace["workspace"]
    if result.tally.bytes_in > asked:
        return (
            f"the sums are right, but {result.tally.bytes_in} bytes come in, and dy, xhat and the shares have "
            f"{asked}: dy and xhat are read once; the second stage adds up the rows of the workspace"
        )
    return None


CHECK = KernelChecker(
    _two_stage_cases,
    # Float32 sums of at most 20 numbers of about 1.
    rtol=1e-5,
    atol=1e-5,
    symptoms=(_which_shares,),
    demands=(_both_stages_divided,),
    faults={
        "race-blocks dgamma": _SAME_CHANNELS.format("dgamma"),
        "race-blocks dbeta": _SAME_CHANNELS.format("dbeta"),
        "race-blocks workspace": "two cores use the same place of the workspace: a core's row begins at "
        "2 * core * channels",
        "race-same-pipe workspace": "two copies of one core go to the same place of the workspace: a tile's share lies "
        "at 2 * core * channels + channel",
        "gm-read-before-write workspace": "a row of the workspace is added that its core never wrote: a core without a "
        "sample has a row, too, and its shares are zeros",
        "race-global workspace": "the second stage reads what the first one is still copying out: all cores have to "
        "meet between the two stages, and SyncAll also waits for the core's own copies",
        "gm-read-before-write dgamma": "something is added to dgamma, which nobody has cleared",
        "gm-out-of-bounds workspace": _PAST_THE_END,
        "gm-beyond-declared-size workspace": _PAST_THE_END,
        "sync-all-deadlock": "every core has to come to SyncAll equally often, those without samples or tiles too",
        "queue-empty": "DeQue finds nothing: EnQue the sums before CopyOut takes them",
        "queue-no-free-buffer": "AllocTensor waits for ever: is FreeTensor called for each row that came in",
    },
    keeps=WAITING_CORES,
    auto_sync=True,
    traced=True,
    orders=(1, 2, 3),
)
