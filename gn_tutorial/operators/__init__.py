"""The registered operators: their specification, arguments, tiling, kernels and results."""
