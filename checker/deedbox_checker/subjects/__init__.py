"""What there is to verify: specs compiled, and their generated modules loaded."""
