"""Runs ``gnt`` as ``python -m gn_tutorial``, where the script is not on the path, for example under a debugger."""

from gn_tutorial.cli.app import main

main()
