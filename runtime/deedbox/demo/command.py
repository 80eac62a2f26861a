"""`deedbox demo [--plain]`: set the stage, tell the story, judge by the ledger.

Exit 0 only when the ledger and the stores say what the story claims.
"""

from __future__ import annotations

import signal
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Final

import deedbox

from .account import NoAnswer
from .ledger import accounts, as_told, table
from .orders import order
from .picture import PlainView, View
from .stage import Files, Stage
from .story import CHARACTER, TITLES, Story, Stuck

OPENING: Final = """\
One shop, twice. Lane A keeps its retries in memory and a status row in a table;
lane B runs the machine generated from specs/shop/orders.deed. Both call the same
card processor. Both workers are killed twice. It takes about fifteen seconds.
"""


def demo(*, plain: bool) -> int:
    signal.signal(signal.SIGTERM, leave)
    print(OPENING, flush=True)
    began = time.monotonic()
    try:
        with TemporaryDirectory(prefix="deedbox-demo-") as folder:
            status = perform(Files(Path(folder)), plain=plain)
    except KeyboardInterrupt:
        print("stopped; all processes are ended, the files removed", file=sys.stderr)
        return 130
    except (Stuck, NoAnswer) as problem:
        print(f"the demo did not end as told: {problem}", file=sys.stderr)
        return 1
    print(f"{time.monotonic() - began:.1f} s in all.")
    return status


def perform(files: Files, *, plain: bool) -> int:
    with (
        Stage(files, CHARACTER) as stage,
        deedbox.open(files.argument("B"), [order.machine]) as box,
        view(plain=plain) as shown,
    ):
        stage.start_processor()
        last = Story(stage, box, shown).tell()
    found = accounts(files.ledger, last.lanes)
    print("", *table(files.ledger, found), "", sep="\n")
    if not as_told(found):
        print("This is not what should have come out.")
        return 1
    print("Lane A does not know any more what it owed. Lane B had it written down.")
    return 0


def view(*, plain: bool) -> AbstractContextManager[View]:
    """The live view needs a terminal and rich; else lines."""
    if plain or not sys.stdout.isatty() or find_spec("rich") is None:
        return nullcontext(PlainView(TITLES))
    from .live import LiveView

    return LiveView()


def leave(_signal: int, _frame: FrameType | None) -> None:
    """SIGTERM ends the demo by the same way as Ctrl-C."""
    raise KeyboardInterrupt
