"""Operator projects, as CANN's project generator makes them: what their host files define, and how they are called."""
