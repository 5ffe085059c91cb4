"""One launch: in a process of its own or in this one, and what came of it."""
