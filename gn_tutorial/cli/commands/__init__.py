"""The commands of ``gnt``, a module each: what it takes and what it does. ``cli/command.py`` finds them here."""
