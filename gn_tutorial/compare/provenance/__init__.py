"""Where a number of an output comes from: the instructions of a traced launch that made it, back to the inputs."""
