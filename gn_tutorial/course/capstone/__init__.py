"""The capstone: a learner writes an operator, from its first file to a grade."""
