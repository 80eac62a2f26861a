"""Whole runs of the interpreter, simulated: many schedules, each from one seed."""
