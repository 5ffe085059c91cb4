"""The operators in PyTorch. Each module registers kernels, fake kernel, gradient, vmap and autocast of its operators.

``gn_tutorial.torch_ops`` imports every module here, a new file too, and publishes the names in its ``__all__``.
"""
