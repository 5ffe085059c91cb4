"""``python -m gn_tutorial``: the command line where the script ``gnt`` is not on the path, as under a debugger."""

from gn_tutorial.cli.app import main

main()
