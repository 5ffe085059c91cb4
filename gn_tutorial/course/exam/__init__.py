"""The exam's theory: the bank of questions, a timed paper of them, and its marking."""
