"""The deedbox language: specs in, typed machines and problems out.

`compile` is the one entry; everything it returns is plain data of `core`,
`syntax`, `problems` and `source`.
"""

from .program import Program, compile

__all__ = ["Program", "compile"]
