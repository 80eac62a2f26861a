"""What a machine looks like to a person: a table, a diagram, its waits.

Each view is a pure function from a core machine to text; files and programs are
the business of the command line.  The page of diagnostics stands with them.
"""

from __future__ import annotations

from .diagnostics import diagnostics
from .diagram import dot, mermaid
from .table import table
from .waits import waits

__all__ = ["diagnostics", "dot", "mermaid", "table", "waits"]
