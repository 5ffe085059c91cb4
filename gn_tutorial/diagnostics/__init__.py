"""What the twin reports, as data and in words."""
