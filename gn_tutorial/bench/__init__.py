"""Kernels over a grid of shapes beside their lower bounds, and the choice of a tile."""
