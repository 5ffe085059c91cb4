"""What each command of ``gnt`` does, once its words are read."""
