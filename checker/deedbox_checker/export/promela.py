"""A table as a Promela model, for Spin.

One process is one instance and moves by the table; what happens to all at once is
a process of its own.  The tables are `hidden`, so a state of the model is the
shared state and the rows of the instances, and nothing else.  To count the states:

    spin -a FILE && gcc -O1 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from ..engine.tables import Joint, Tables
from .moves import Block, blocks, pieces


def promela(
    tables: Tables, instances: int = 1, title: str = "", legend: Sequence[str] = ()
) -> str:
    """`legend`: what each local state is, in words."""
    cut = list(blocks(tables))
    return "\n".join(
        [
            *comment(tables, title),
            *(line for block in cut for line in arrays(block)),
            *(
                line
                for n, joint in enumerate(tables.joints)
                for line in moved(n, joint)
            ),
            "",
            f"int shared = {tables.start // tables.locals};",
            f"int at[{instances}] = {tables.start % tables.locals};",
            "",
            *instance(tables, cut, instances),
            *everybody(tables, instances),
            *words(legend),
            "",
        ]
    )


def comment(tables: Tables, title: str) -> Iterator[str]:
    yield f"/* {title or 'A table'}: {tables.locals} local states. */"
    yield "/* A row is shared * local states + local state. */"


def array(name: str, numbers: Sequence[int]) -> Iterator[str]:
    yield f"hidden int {name}[{len(numbers)}] = {{"
    for first in range(0, len(numbers), 20):
        part = ", ".join(map(str, numbers[first : first + 20]))
        yield f"  {part}{',' if first + 20 < len(numbers) else ''}"
    yield "};"


def arrays(block: Block) -> Iterator[str]:
    """Of each row, where its targets begin; and the targets."""
    begins = list(accumulate(map(len, block.targets), initial=0))
    targets = [target for row in block.targets for target in row]
    yield ""
    yield f"/* rows {block.first} to {block.end - 1} */"
    yield from array(f"begin_{block.number}", begins)
    if targets:
        yield from array(f"target_{block.number}", targets)


def moved(number: int, joint: Joint) -> Iterator[str]:
    yield ""
    yield f"/* what happens to all at once when shared is {joint.shared} */"
    for first, part in pieces(joint.moves):
        yield from array(f"moved_{number}_{first}", part)


def instance(tables: Tables, cut: list[Block], instances: int) -> Iterator[str]:
    size = tables.locals
    row = "at[_pid]" if tables.shared == 1 else f"(shared * {size} + at[_pid])"
    yield f"active [{instances}] proctype instance() {{"
    if tables.shared > 1:
        yield "  int to;"
    yield "end:"
    yield "  do"
    for block in cut:
        begin, target = f"begin_{block.number}", f"target_{block.number}"
        here = f"{row} - {block.first}" if block.first else row
        within = f"{row} >= {block.first} && {row} < {block.end}"
        for choice in range(block.most):
            guard = f"{within} && {begin}[{here}] + {choice} < {begin}[{here} + 1]"
            found = f"{target}[{begin}[{here}] + {choice}]"
            if tables.shared == 1:
                yield f"  :: d_step {{ {guard} -> at[_pid] = {found} }}"
            else:
                yield f"  :: d_step {{ {guard} -> to = {found};"
                yield f"       shared = to / {size}; at[_pid] = to % {size}; to = 0 }}"
    if not any(block.most for block in cut):
        yield "  :: false"
    yield "  od"
    yield "}"


def everybody(tables: Tables, instances: int) -> Iterator[str]:
    """What happens to all at once: possible where it moves at least one."""
    if not tables.joints:
        return
    yield ""
    yield "active proctype everybody() {"
    yield "end:"
    yield "  do"
    for number, joint in enumerate(tables.joints):
        places = [
            (f"at[{n}]", first, first + len(part), f"moved_{number}_{first}")
            for n in range(instances)
            for first, part in pieces(joint.moves)
        ]
        possible = "\n       || ".join(
            f"{at} >= {first} && {at} < {end} && {name}[{at} - {first}] != {at}"
            for at, first, end, name in places
        )
        yield f"  :: d_step {{ shared == {joint.shared} && ({possible}) ->"
        for n in range(instances):
            yield "       if"
            for at, first, end, name in places:
                if at == f"at[{n}]":
                    inside = f"{at} >= {first} && {at} < {end}"
                    yield f"       :: {inside} -> {at} = {name}[{at} - {first}]"
            yield "       fi;"
        yield f"       shared = {joint.shared_after} }}"
    yield "  od"
    yield "}"


def words(legend: Sequence[str]) -> Iterator[str]:
    if legend:
        yield ""
        yield "/* The local states:"
        for number, said in enumerate(legend):
            yield f"   {number}: {said}"
        yield "*/"
