"""Runs kernels on a grid of shapes and compares them with their lower bounds; tunes a field of the tiling struct.

``gnt.bench.run_grid(op, grid, machine)`` and ``gnt.bench.tune(...)``; on the command line ``gnt bench``, ``gnt tune``.
"""

from gn_tutorial.profiler.bench.autotune import tune
from gn_tutorial.profiler.bench.files import load
from gn_tutorial.profiler.bench.grid import BenchCase, load_grid
from gn_tutorial.profiler.bench.run import run_grid
from gn_tutorial.timing.lower_bound import Work, lower_bound

__all__ = ["BenchCase", "Work", "load", "load_grid", "lower_bound", "run_grid", "tune"]
