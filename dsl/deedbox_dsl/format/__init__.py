"""The one layout of a spec: from a syntax tree to text.

`printer` prints files and the items of a kind, `blocks`, `rules`, `lists` and
`expressions` what is inside them, as the documents of `pretty`.
"""

from .printer import format_machine, format_text, format_tree

__all__ = ["format_machine", "format_text", "format_tree"]
