"""The compiler's commands: `build`, `check`, `diff`, `explain`, `fmt`, `release`, `show`.

This package is the only place of the generator that reads and writes files.  Each
command prints what the pure functions say and returns the exit status: 0 fine,
1 problems, 2 usage.  Whatever is slow to import is imported where it is needed,
so that a build with nothing to do is over at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol

from .project import Unreadable

NEEDS: Final = ("lark", "jinja2", "black")


class Commands(Protocol):
    """What argparse calls subparsers."""

    def add_parser(self, name: str, /, *, help: str) -> argparse.ArgumentParser: ...


for _name in NEEDS:
    if find_spec(_name) is None:
        raise ModuleNotFoundError(f"the compiler needs {_name}", name=_name)


def register(commands: Commands) -> None:
    """Add the compiler's commands; the entry point of the group `deedbox.commands`."""
    build = commands.add_parser("build", help="generate Python from specs")
    _paths(build)
    build.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where packages go (default: generated/ in the project)",
    )
    build.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit 1 when a file is not what its spec says",
    )
    build.set_defaults(run=_build)

    check = commands.add_parser("check", help="say everything that is wrong with specs")
    _paths(check)
    check.add_argument("--format", choices=("text", "json", "github"), default="text")
    check.set_defaults(run=_check)

    fmt = commands.add_parser("fmt", help="write specs in the one way they are written")
    _paths(fmt)
    fmt.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when one differs"
    )
    fmt.set_defaults(run=_fmt)

    show = commands.add_parser("show", help="look at the machines of a spec")
    show.add_argument("spec", type=Path, metavar="SPEC")
    views = show.add_mutually_exclusive_group()
    for view, words in (
        ("table", "states, triggers and what follows (the default)"),
        ("lowered", "the plain machine that a kind means, as a spec"),
        ("diagram", "a state diagram"),
        ("waits", "every wait, and how long it is"),
    ):
        views.add_argument(
            f"--{view}", dest="view", action="store_const", const=view, help=words
        )
    show.add_argument(
        "--as",
        dest="picture",
        choices=("mermaid", "dot", "svg"),
        default="mermaid",
        help="the form of the diagram; svg needs graphviz",
    )
    show.add_argument("--machine", metavar="NAME", help="only this machine")
    show.set_defaults(run=_show, view="table")

    release = commands.add_parser(
        "release", help="record what this version of each machine stores"
    )
    _paths(release)
    release.set_defaults(run=_release)

    diff = commands.add_parser("diff", help="what one version breaks for another")
    diff.add_argument(
        "old", type=Path, metavar="OLD", help="a spec or a recorded shape"
    )
    diff.add_argument("new", type=Path, metavar="NEW", help="likewise")
    diff.add_argument("--format", choices=("text", "json"), default="text")
    diff.set_defaults(run=_diff)

    explain = commands.add_parser("explain", help="what a code such as DEED401 means")
    codes = explain.add_mutually_exclusive_group(required=True)
    codes.add_argument("code", metavar="CODE", nargs="?")
    codes.add_argument("--all", action="store_true", help="the page of all codes")
    explain.set_defaults(run=_explain)


def _paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        type=Path,
        nargs="*",
        metavar="PATH",
        help="spec files or folders of them (default: specs/ in the project)",
    )


def _build(arguments: argparse.Namespace) -> int:
    from .build import build

    return _usage(lambda: build(arguments.paths, arguments.out, check=arguments.check))


def _check(arguments: argparse.Namespace) -> int:
    from .check import check

    return _usage(lambda: check(arguments.paths, arguments.format))


def _fmt(arguments: argparse.Namespace) -> int:
    from .fmt import fmt

    return _usage(lambda: fmt(arguments.paths, check=arguments.check))


def _show(arguments: argparse.Namespace) -> int:
    from .show import show

    return _usage(
        lambda: show(
            arguments.spec, arguments.view, arguments.picture, arguments.machine
        )
    )


def _release(arguments: argparse.Namespace) -> int:
    from .release import release

    return _usage(lambda: release(arguments.paths))


def _diff(arguments: argparse.Namespace) -> int:
    from .diff import differences

    return _usage(lambda: differences(arguments.old, arguments.new, arguments.format))


def _explain(arguments: argparse.Namespace) -> int:
    from .explain import explain, explain_all

    return explain_all() if arguments.all else explain(arguments.code)


def _usage(run: Callable[[], int]) -> int:
    """A path that cannot be read is the caller's mistake, not the spec's."""
    try:
        return run()
    except Unreadable as error:
        print(f"deedbox: {error}", file=sys.stderr)
        return 2
