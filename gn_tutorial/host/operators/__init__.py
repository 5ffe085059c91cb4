"""The operators of the host API for NumPy arrays, an operator a module: both calls of it in one function.

``gn_tutorial.host`` hands out what the modules here name in their ``__all__``; a new file is found by being here.
"""
