"""Numbered states and the steps between them, explored. Knows nothing of machines."""
