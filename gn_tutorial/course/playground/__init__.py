"""The course in a web page: compiling and launching kernels there, and showing the results (docs/playground.md)."""
