"""Data that Python and a compiled kernel exchange: structs, options, traces."""
