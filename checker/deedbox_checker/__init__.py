"""The model checker: every schedule of a machine under faults, on the code that will run.

It may import the language, the generator and the interpreter; none of them knows it.
Its folders lie in layers, from `engine` and `expressions` up to the two doors, `command`
and `plugin`: a contract in `pyproject.toml` names them.
"""
