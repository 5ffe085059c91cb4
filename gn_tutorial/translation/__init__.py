"""Texts in the learner's language: which one (``choice``), a text in it (``texts``), Markdown in it (``markdown``)."""
