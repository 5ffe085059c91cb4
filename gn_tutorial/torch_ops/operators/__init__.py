"""The operators in PyTorch. Each module has one: kernels, fake kernel, gradient, vmap, autocast, and checks.

``gn_tutorial.torch_ops`` registers the names in ``__all__`` of the modules here; it finds a new file by itself.
"""
