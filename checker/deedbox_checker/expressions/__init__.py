"""What the expressions of a machine say, whatever they are about."""
