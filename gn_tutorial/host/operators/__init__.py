"""The operators of the host API for NumPy arrays. Each operator is a function that makes both calls.

``gn_tutorial.host`` exports the names in ``__all__`` of every module in this folder, also of a new one.
"""
