"""Types: from a machine as written to the typed core.

`machine` goes through the clauses, `blocks` through what each asks for and where it
goes, `expressions` through every value.  `facts` and `intervals` hold what is known
of a value where it stands.
"""

from .machine import check

__all__ = ["check"]
