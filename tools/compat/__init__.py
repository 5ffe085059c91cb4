"""Tells how much of a folder of public kernels the twin accepts: ``python -m tools.compat``, docs/compat.md."""
