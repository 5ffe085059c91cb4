"""Benchmarks over a grid of shapes, beside their lower bounds, and the autotuner."""
