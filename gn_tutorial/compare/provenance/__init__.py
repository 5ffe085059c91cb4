"""Follows a number of an output back to the inputs, through the instructions of a traced launch."""
