"""The timing model: it computes a timeline and a lower bound from a machine's constants and a trace."""
