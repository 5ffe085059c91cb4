"""Checks whether PyTorch's dispatcher has all registrations of the operators.

``python -m gn_tutorial.torch_ops.registered`` prints the answer as JSON. ``gnt doctor`` runs it in a separate process.
"""

from __future__ import annotations

import json

import torch

from gn_tutorial import torch_ops

#: The dispatch keys that each operator needs: for the CPU, for fake tensors, for gradients, for an NPU.
KEYS = ("CPU", "Meta", "Autograd", "PrivateUse1")


def missing() -> list[str]:
    """Return a sentence for every pair of an operator and a dispatch key that has no kernel."""
    return [
        f"{name} has no kernel for {key}"
        for name in torch_ops.__all__
        for key in KEYS
        if not torch._C._dispatch_has_kernel_for_dispatch_key(f"gn_tutorial::{name}", key)
    ]


if __name__ == "__main__":
    print(json.dumps({"operators": torch_ops.__all__, "keys": KEYS, "missing": missing()}))
