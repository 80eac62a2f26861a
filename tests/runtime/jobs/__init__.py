"""A machine in the shape that the generator gives, with what no printed spec has."""
