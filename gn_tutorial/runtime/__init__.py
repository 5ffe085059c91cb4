"""Launches of kernels, isolated or in process, their results, and the errors of kernels that fail."""
