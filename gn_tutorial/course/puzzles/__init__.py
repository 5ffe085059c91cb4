"""Puzzles: a learner writes a few lines of C++ beside the idea that they need; a picture shows what the lines did."""
