"""Three launches of kernels/add with one planted fault each: notebook 09 shows them, exercise 09.1 asks about them.

A module of its own, because the check of 09.1 imports it too. In the package only ``lessons`` imports it.
"""

from __future__ import annotations

import functools

import numpy as np

from gn_tutorial.operators.arguments import out
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.profiler.profile import Profile, profile

_N, _BLOCKS = 600_000, 8

#: Edits of the source of kernels/add for every launch, also for the sound one: text -> replacement.
_SOUND = (("kTile = 2048", "kTile = 8192"), ("Queue_, 1, kTile", "Queue_, 2, kTile"))
#: Cause -> the text in the sound launch, and the faulty text that replaces it.
FAULTS = {
    "cores": (
        "share = ((n + 7) / 8 + blocks - 1) / blocks * 8;",
        "share = ((n + 65535) / 65536 + blocks - 1) / blocks * 65536;",
    ),
    "tiles": ("kTile = 8192;", "kTile = 512;"),
    "waiting": ("      CopyOut(at, count);\n", "      CopyOut(at, count);\n      AscendC::PipeBarrier<PIPE_ALL>();\n"),
}
#: Launch -> cause.
_LAUNCHES = {"sound": "", "A": "cores", "B": "tiles", "C": "waiting"}


@functools.cache
def launch_text(name: str) -> str:
    """Return the source of launch "A", "B" or "C", or of "sound", the launch without a fault."""
    text, fault = kernel("add/queue").source, _LAUNCHES[name]
    for old, new in (*_SOUND, *([FAULTS[fault]] if fault else [])):
        assert old in text, old
        text = text.replace(old, new)
    return text


def launch_kernel(name: str) -> Kernel:
    """Return the kernel of launch "A", "B" or "C", or of "sound", the launch without a fault."""
    return kernel(source=launch_text(name))


@functools.cache
def text_profile(text: str) -> Profile:
    """Return the profile of a launch of this source on two arrays of 600,000 floats, with 8 blocks."""
    x = np.ones(_N, np.float32)
    return profile(kernel(source=text), x, x, out(_N), _N, blocks=_BLOCKS)


def launch_profile(name: str) -> Profile:
    """Return the profile of launch "A", "B" or "C", or of "sound", the launch without a fault."""
    return text_profile(launch_text(name))
