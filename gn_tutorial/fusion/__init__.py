"""Fused operators and the launches that they replace: what both move, and how long both take."""
