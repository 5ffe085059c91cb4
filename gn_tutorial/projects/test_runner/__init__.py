"""Runs an operator project's own test unchanged: its scripts, its build, its aclnn calls."""
