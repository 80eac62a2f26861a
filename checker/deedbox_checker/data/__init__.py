"""Which values a machine can tell apart: finite data of every type."""
