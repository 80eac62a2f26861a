"""The model checker: every schedule of a machine under faults, on the code that will run.

It may import the language, the generator and the interpreter; none of them knows it.
"""
