"""Programs for who works on the course, in a clone: README.md lists them. No part of the installed package."""
