"""The timing model: a machine's figures and a trace give a modelled timeline and a lower bound."""
