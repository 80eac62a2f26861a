"""Text to a syntax tree, with every independent problem of the text.

`lexemes` looks first, without a grammar; `tables` holds the parser; `tree*` read its
tree into `syntax`.  Where a text is damaged, `braces` and `slices` cut it into pieces,
`recovery` reads those apart, and `unexpected`, `repairs`, `phrases` and `slips` say
what is wrong with one.
"""

from .reading import Reading, parse, read
from .recovery import MOST_PROBLEMS

__all__ = ["MOST_PROBLEMS", "Reading", "parse", "read"]
