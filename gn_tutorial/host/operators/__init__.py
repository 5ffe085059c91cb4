"""The operators of the host API for NumPy arrays, one module an operator: a function makes both calls.

``gn_tutorial.host`` exports the names in ``__all__`` of the modules here; it finds a new file by itself.
"""
