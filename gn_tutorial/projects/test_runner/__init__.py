"""Runs the own test of an operator project unchanged: its scripts, its build, its aclnn calls."""
