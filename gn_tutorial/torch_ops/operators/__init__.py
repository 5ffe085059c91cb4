"""The operators in PyTorch, one module each: kernels, fake kernel, gradient, vmap, autocast, and checks.

``gn_tutorial.torch_ops`` registers the names in ``__all__`` of the modules here; it finds a new file by itself.
"""
