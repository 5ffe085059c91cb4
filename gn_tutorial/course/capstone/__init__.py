"""The capstone: an operator of the learner's own from its first file to a grade."""
