"""Programs for people with a clone of the course; README.md lists them. They are not in the installed package."""
