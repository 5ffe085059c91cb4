"""Outputs beside their references: whether they are right, what wrong ones look like, where a wrong number is from."""
