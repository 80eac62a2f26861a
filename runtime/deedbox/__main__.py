"""`deedbox`, and `python -m deedbox`: the run-time commands and those of the extras.

An entry point of the group `deedbox.commands` is a function that is given the
subparsers.  Each command sets the default `run`: from parsed arguments to an exit
status, 0 fine, 1 problems, 2 usage, 130 interrupted.  A command whose extra is not
installed stays known, and says how to install it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points, version
from typing import Final, Protocol, TypeAlias

Run: TypeAlias = Callable[[argparse.Namespace], int]

COMMANDS_OF: Final = {
    "compiler": ("build", "check", "diff", "explain", "fmt", "release", "show"),
    "checker": ("export", "trace", "verify"),
}

INTERRUPTED: Final = 128 + signal.SIGINT


class Commands(Protocol):
    """What argparse calls subparsers."""

    def add_parser(
        self, name: str, /, *, help: str, add_help: bool = True
    ) -> argparse.ArgumentParser: ...


def main(arguments: list[str] | None = None) -> int:
    """The exit status of the command that `arguments` ask for."""
    try:
        status = command(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # `deedbox show … | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:  # Ctrl-C: nobody asks where it was
        print("deedbox: interrupted", file=sys.stderr)
        return INTERRUPTED
    return status


def command(arguments: list[str] | None) -> int:
    parser = argparse.ArgumentParser(
        prog="deedbox", description="Durable machines, written down."
    )
    parser.add_argument(
        "--version", action="version", version=f"deedbox {version('deedbox')}"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_demo(commands)
    add_migrate(commands)
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] not in (
        ["demo"],
        ["migrate"],
    ):  # a run-time command does not load the compiler
        extras = entry_points(group="deedbox.commands")
        # The compiler before the checker, which takes longer to load.
        for extra in sorted(extras, key=lambda each: each.name, reverse=True):
            if not set(words[:1]) & commands.choices.keys():  # loaded until it is known
                add_extra(commands, extra)
    parsed, rest = parser.parse_known_args(words)
    run: Run = parsed.run
    if rest and run is not missing:
        parser.error(f"not understood: {' '.join(rest)}")
    return run(parsed)


def add_demo(commands: Commands) -> None:
    parser = commands.add_parser("demo", help="a server that dies, in two lanes")
    parser.add_argument(
        "--plain", action="store_true", help="lines for a log, no live picture"
    )
    parser.set_defaults(run=demo)


def demo(arguments: argparse.Namespace) -> int:
    from .demo.command import demo

    return demo(plain=bool(arguments.plain))


def add_migrate(commands: Commands) -> None:
    parser = commands.add_parser(
        "migrate", help="bring the rows of older versions to this one"
    )
    parser.add_argument("store", metavar="STORE", help="such as sqlite:///orders.db")
    parser.add_argument(
        "modules",
        nargs="+",
        metavar="MODULE",
        help="generated modules by their import names, such as orders.order",
    )
    parser.add_argument(
        "--page", type=int, default=128, metavar="N", help="rows a transaction"
    )
    parser.set_defaults(run=migrate)


def migrate(arguments: argparse.Namespace) -> int:
    from .bulk import migrate

    page = min(max(arguments.page, 1), 10_000)
    return migrate(arguments.store, arguments.modules, page)


def add_extra(commands: Commands, extra: EntryPoint) -> None:
    """The commands of an extra, or, where it is not installed, their names."""
    try:
        register = extra.load()
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("deedbox"):
            raise
        for name in COMMANDS_OF.get(extra.name, ()):
            parser = commands.add_parser(
                name, help=f"needs the extra {extra.name!r}", add_help=False
            )
            parser.set_defaults(run=missing, command=name, extra=extra.name)
        return
    register(commands)


def missing(arguments: argparse.Namespace) -> int:
    print(
        f"deedbox {arguments.command} needs the {arguments.extra}, which is not installed.\n"
        f"Install it: pip install 'deedbox[{arguments.extra}]'",
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    sys.exit(main())
