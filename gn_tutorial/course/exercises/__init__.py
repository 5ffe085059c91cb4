"""The exercises: the course's list, the learner's files, the checks and their verdicts."""
