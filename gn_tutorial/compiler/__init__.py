"""Reads and compiles Ascend C sources into shared libraries, and keeps the libraries in a cache."""
