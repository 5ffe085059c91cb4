"""Launches: isolated or in process, their results, and post-mortems of kernels that died."""
