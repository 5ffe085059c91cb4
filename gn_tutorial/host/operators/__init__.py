"""The operators of the host API for NumPy arrays. Each operator is a function that makes both calls.

``gn_tutorial.host`` exports the names in ``__all__`` of the modules here; it finds a new file by itself.
"""
