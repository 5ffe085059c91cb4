"""The course in a web page: what is compiled and launched there, and what the page shows of it (docs/playground.md)."""
