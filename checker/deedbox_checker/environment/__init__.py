"""Everything that may happen to one instance: the interpreter, time, the world, mishaps."""
