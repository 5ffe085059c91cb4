"""Puzzles: a few lines of C++ that a learner writes in a notebook, beside the idea that they need, and a picture of them."""
