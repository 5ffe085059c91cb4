"""Diagnostics of the twin: the catalogue, the findings of a launch, their text and HTML."""
