"""Quizzes: questions and their files, in a notebook and in a terminal."""
