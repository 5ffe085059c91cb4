"""The operators in PyTorch, each a module: its kernels, its fake, its gradient, vmap, autocast, and what it refuses.

``gn_tutorial.torch_ops`` registers what the modules here name in their ``__all__``; a new file is found by being here.
"""
