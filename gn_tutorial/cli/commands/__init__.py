"""The commands of ``gnt``. Each module here declares one command; ``cli/command.py`` finds the modules."""
