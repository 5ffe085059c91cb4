"""Pictures: Matplotlib figures, each with a text of its numbers. The only room that imports Matplotlib."""
