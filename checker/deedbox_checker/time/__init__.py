"""Which times a machine can tell apart: instants by their order, without a clock."""
