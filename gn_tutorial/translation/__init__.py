"""Texts in the learner's language: choose it (``choice``), translate a text (``texts``) or Markdown (``markdown``)."""
