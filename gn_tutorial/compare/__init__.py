"""Compares outputs with references: which elements are wrong, what they look like, where a wrong number comes from."""
