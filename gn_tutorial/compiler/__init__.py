"""From Ascend C source to a shared library: reading it, compiling it, keeping it."""
