"""The commands of ``gnt``. Each module has one: its arguments and what it does. ``cli/command.py`` finds them here."""
