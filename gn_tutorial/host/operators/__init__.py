"""The operators of the host API for NumPy arrays. Each operator is a function that makes both calls.

docs/host-api.md explains the two calls. ``gn_tutorial.host`` exports the names in ``__all__`` of every module in this
folder, also of a module that is added.
"""
