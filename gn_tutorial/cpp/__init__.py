"""Reads C++ text: tokens, entries, declarations, launches, included files, how values flow, and the rules."""
