"""`deedbox export`: the explored tables of a machine, for Spin or for rumur."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..engine.tables import Unbounded
from ..environment.environment import environment
from ..environment.labels import FAULTS
from ..environment.prepared import prepared
from ..environment.reaction import reactions
from ..instance.model import Model
from ..instance.world import World
from ..search.searching import LIMIT, Searched, search
from ..subjects.arguments import Commands, add_without, positive
from ..subjects.subjects import Subject
from ..traces.pictures import picture
from .murphi import murphi
from .promela import promela

FORMATS = {"promela": promela, "murphi": murphi}


class Unexplored(Exception):
    """The machine has no tables, and this says why."""


def register(commands: Commands) -> None:
    parser = commands.add_parser(
        "export", help="write what is explored of a machine for Spin or for rumur"
    )
    parser.add_argument("spec", type=Path, metavar="SPEC")
    parser.add_argument("--machine", metavar="NAME", help="where there are several")
    parser.add_argument("--out", type=Path, metavar="FILE", help="instead of printing")
    parser.add_argument("--instances", type=positive, default=1, metavar="N")
    add_without(parser, "leave a fault out")
    which = parser.add_mutually_exclusive_group(required=True)
    for name, checker in (("promela", "Spin"), ("murphi", "rumur")):
        which.add_argument(
            f"--{name}", dest="format", action="store_const", const=name, help=checker
        )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """0: written; 1: the machine has no finite table; 2: usage."""
    from deedbox_generator.cli.project import Unreadable, put

    from ..subjects.chosen import chosen

    path: Path = arguments.spec
    machine: str | None = arguments.machine
    out: Path | None = arguments.out
    instances: int = arguments.instances
    without: list[str] = arguments.without
    try:
        found = chosen([path], machine)
    except Unreadable as problem:
        print(f"deedbox: {problem}", file=sys.stderr)
        return 2
    if len(found) != 1:
        names = ", ".join(subject.machine.name for subject in found)
        said = f"one of {names}: --machine NAME" if found else "a machine of this spec"
        print(f"deedbox: an export is of {said}", file=sys.stderr)
        return 2
    try:
        searched = explored(found[0], without)
    except Unexplored as problem:
        print(f"deedbox: {found[0].machine.name}: {problem}", file=sys.stderr)
        return 1
    try:
        put(exported(searched, arguments.format, instances), out)
    except Unreadable as problem:
        print(f"deedbox: {problem}", file=sys.stderr)
        return 2
    return 0


def exported(searched: Searched, format: str, instances: int = 1) -> str:
    """What was explored of one instance, as a text of that format."""
    states = searched.closure.states
    legend = [described(searched.model, world) for world in states]
    title = f"{searched.model.spec.name}, explored by deedbox"
    return FORMATS[format](searched.tables, instances, title, legend)


def explored(subject: Subject, without: list[str] | tuple[str, ...] = ()) -> Searched:
    """One instance under the faults of its spec, closed and explored."""
    made = prepared(subject.machine, subject.module)
    if isinstance(made, str):
        raise Unexplored(made)
    left_out = {*without, *subject.machine.bounds.excepted_faults}
    faults = frozenset(FAULTS[name] for name in FAULTS if name not in left_out)
    try:
        return search(environment(made, reactions(made), faults), LIMIT, lambda _: None)
    except Unbounded:
        raise Unexplored(f"more than {LIMIT:,} states") from None


def described(model: Model, world: World) -> str:
    """A local state in one line of a comment."""
    if world.state is None:
        return "not started"
    names = {deed.number: deed.number for deed in world.deeds}
    parts = picture(model, world, names)
    said = ", ".join(f"{name}: {value}" for name, value in parts.items())
    return " ".join(said.replace("*/", "* /").split())
