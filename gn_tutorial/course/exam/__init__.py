"""The exam: theory papers and their marking, practical tasks and their judge, objectives and progress."""
