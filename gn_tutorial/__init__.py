"""gn_tutorial: write an Ascend C operator on a laptop, run it on a CPU twin of the NPU, and check it against NumPy.

import gn_tutorial as gnt
k = gnt.kernel("group_norm/scalar")
result = k(x, gamma, beta, num_groups=4)
"""

from __future__ import annotations

from gn_tutorial import errors
from gn_tutorial.operators.arguments import inout, out, workspace

# Not lazy: `kernel` is a function and a module, and importing the module first would hide the function behind it.
from gn_tutorial.operators.kernel import Kernel, kernel
from gn_tutorial.profiler.diff import diff
from gn_tutorial.profiler.profile import Profile, profile

__all__ = ["Kernel", "Profile", "__version__", "diff", "errors", "inout", "kernel", "out", "profile", "workspace"]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version  # 40 ms, and most programs never ask

        return version("gn_tutorial")
    raise AttributeError(f"module 'gn_tutorial' has no attribute '{name}'")
