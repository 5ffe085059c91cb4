"""Puzzles: a learner writes a few lines of C++ right after a new idea; a picture shows what the lines wrote."""
