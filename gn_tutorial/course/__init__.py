"""The course's machinery: exercises, puzzles, quizzes, exam, capstone, classes, the notebooks' server, the page."""
