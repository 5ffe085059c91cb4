"""The operators in PyTorch. Each module registers its operators: their kernels, fake kernels, and rules for vmap.

Operators that are not gradients also have a gradient, and most have a rule for autocast. ``gn_tutorial.torch_ops``
imports every module here, a new file too, and publishes the names in the module's ``__all__``.
"""
