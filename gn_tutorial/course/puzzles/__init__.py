"""Puzzles: a learner writes a few lines of C++ in a notebook, beside the idea they need, and sees what they did."""
