"""The command line, ``gnt``."""
