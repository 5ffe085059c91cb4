"""Operator projects, as CANN's project generator makes them: reads their definitions, calls, tests and fuzzes them."""
