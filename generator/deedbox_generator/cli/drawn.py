"""A picture by graphviz, when that is installed."""

from __future__ import annotations

import shutil
import subprocess

from .project import Unreadable


def svg(graph: str) -> str:
    """The SVG that graphviz' `dot` draws of a graph in its language."""
    program = shutil.which("dot")
    if program is None:
        raise Unreadable(
            "an SVG needs graphviz: install it, or print `--as dot` or `--as mermaid`"
        )
    drawn = subprocess.run(
        [program, "-Tsvg"], input=graph, capture_output=True, text=True, check=True
    )
    return drawn.stdout
