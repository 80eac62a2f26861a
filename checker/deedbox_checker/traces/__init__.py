"""A run as a person reads it."""
