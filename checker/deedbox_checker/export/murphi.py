"""A table as a Murphi model, for rumur.

The moves of a row are the cases of a function, in words where there are any.  To
count the states:

    rumur --deadlock-detection off --output FILE.c FILE && gcc -O1 -mcx16 -pthread FILE.c && ./a.out
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..engine.tables import Joint, Tables
from .moves import ROWS, Block, blocks


def murphi(
    tables: Tables, instances: int = 1, title: str = "", legend: Sequence[str] = ()
) -> str:
    """`legend`: what each local state is, in words."""
    cut = [block for block in blocks(tables) if block.most]
    start, local = divmod(tables.start, tables.locals)
    return "\n".join(
        [
            f"-- {title or 'A table'}: {tables.locals} local states.",
            "-- A row is shared * local states + local state.",
            "type",
            f"  row: 0..{tables.locals * tables.shared - 1};",
            f"  place: 0..{tables.locals - 1};",
            f"  instance: 0..{instances - 1};",
            "var",
            f"  shared: 0..{tables.shared - 1};",
            "  at: array[instance] of place;",
            "",
            "startstate begin",
            f"  shared := {start};",
            f"  for i: instance do at[i] := {local}; end;",
            "end;",
            *(line for block in cut for line in functions(tables, block, legend)),
            *(line for block in cut for line in rule(tables, block)),
            *(
                line
                for number, joint in enumerate(tables.joints)
                for line in everybody(number, joint)
            ),
            "",
        ]
    )


def functions(tables: Tables, block: Block, legend: Sequence[str]) -> Iterator[str]:
    """How many moves a row has, and where each leads."""
    by_number: dict[int, list[int]] = {}
    for row, targets in enumerate(block.targets, block.first):
        by_number.setdefault(len(targets), []).append(row)
    yield ""
    yield f"function moves_{block.number}(from: row): 0..{block.most};"
    yield "begin"
    yield "  switch from"
    for number, rows in by_number.items():
        yield f"  case {', '.join(map(str, rows))}: return {number};"
    yield "  end;"
    yield "end;"
    yield ""
    yield f"function target_{block.number}(from: row; choice: 0..{block.most - 1}): row;"
    yield "begin"
    yield "  switch from"
    for row, targets in enumerate(block.targets, block.first):
        if targets:
            said = f" -- {legend[row % tables.locals]}" if legend else ""
            *others, last = targets
            cases = [f"case {n}: return {to};" for n, to in enumerate(others)]
            yield f"  case {row}:{said}"
            if others:
                yield f"    switch choice {' '.join(cases)} else return {last}; end;"
            else:
                yield f"    return {last};"
    yield "  end;"
    yield "end;"


def rule(tables: Tables, block: Block) -> Iterator[str]:
    size, number = tables.locals, block.number
    row = "at[i]" if tables.shared == 1 else f"shared * {size} + at[i]"
    within = f"{block.first} <= {row} & {row} < {block.end}"
    yield ""
    yield f"ruleset i: instance; choice: 0..{block.most - 1} do"
    yield f'  rule "rows from {block.first}"'
    yield f"    {within} & choice < moves_{number}({row}) ==>"
    if tables.shared == 1:
        yield f"  begin at[i] := target_{number}({row}, choice); end;"
    else:
        yield "  var next: row;"
        yield "  begin"
        yield f"    next := target_{number}({row}, choice);"
        yield f"    shared := next / {size}; at[i] := next % {size};"
        yield "  end;"
    yield "end;"


def everybody(number: int, joint: Joint) -> Iterator[str]:
    """What happens to all at once: possible where it moves at least one."""
    changed = [(local, to) for local, to in enumerate(joint.moves) if local != to]
    parts = [changed[first : first + ROWS] for first in range(0, len(changed), ROWS)]
    for n, part in enumerate(parts):
        yield ""
        yield f"function moved_{number}_{n}(from: place): place;"
        yield "begin"
        yield "  switch from"
        for local, to in part:
            yield f"  case {local}: return {to};"
        yield "  else return from;"
        yield "  end;"
        yield "end;"
    if not parts:
        return
    # a target moves no further, whatever part it stands in: each instance moves once
    yield ""
    yield f"function moved_{number}(from: place): place;"
    yield "begin"
    for n in range(len(parts)):
        name = f"moved_{number}_{n}(from)"
        yield f"  if {name} != from then return {name}; end;"
    yield "  return from;"
    yield "end;"
    yield ""
    yield f'rule "everybody, when shared is {joint.shared}"'
    yield f"  shared = {joint.shared}"
    yield f"  & exists i: instance do moved_{number}(at[i]) != at[i] end ==>"
    yield "begin"
    yield f"  for i: instance do at[i] := moved_{number}(at[i]); end;"
    yield f"  shared := {joint.shared_after};"
    yield "end;"
