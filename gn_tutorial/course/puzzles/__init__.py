"""Puzzles: a few lines of C++, written in a notebook beside the idea that they need, and a picture of what they did."""
