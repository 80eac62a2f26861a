"""What a machine looks like to a person: a table, a diagram, its waits.

Each view is a pure function from a core machine to text; files and programs are
the business of the command line.
"""

from __future__ import annotations

from .diagram import dot, mermaid
from .table import table
from .waits import waits

__all__ = ["dot", "mermaid", "table", "waits"]
