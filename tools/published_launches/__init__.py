"""Compares the timing model with published launches of production operators: ``python -m tools.published_launches``."""
