"""From a URL to an open box."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from .box import Box
from .clock import Clock, RealClock
from .errors import StoreRefused
from .operations import Store
from .step import AnyMachine
from .values import Rules

OPTIONS = frozenset({"adopt", "allow_network_fs", "peers", "synchronous"})


def open(
    url: str,
    machines: Iterable[AnyMachine],
    *,
    rules: Rules | None = None,
    clock: Clock | None = None,
) -> Box:
    """Open a store for these machines, and make their tables if they are not there.

    `sqlite:///orders.db` is a file in the working folder, `sqlite:////var/orders.db`
    an absolute path, `memory://` a store that ends with the box.  Options of SQLite,
    after a `?`, joined by `&`:

        peers=false             no other process writes to the file: idle costs nothing
        adopt=true              add our tables to a database that has others
        synchronous=NORMAL      the last commits may be lost when the power fails
        allow_network_fs=true   open it on a file system whose locks cannot be trusted

    Raises `StoreRefused` when the file is corrupt, something else's, or newer than
    this deedbox; it is then as it was, byte for byte.
    """
    clock = clock or RealClock()
    store, peers = _store(url, clock)
    try:
        return Box(store, machines, rules=rules or Rules(), clock=clock, peers=peers)
    except BaseException:
        store.close()
        raise


def _store(url: object, clock: Clock) -> tuple[Store, bool]:
    if not isinstance(url, str):
        raise _no_url(url)
    parts = urlsplit(url)
    if parts.scheme == "memory":
        from .stores.memory import MemoryStore

        return MemoryStore(clock), False
    if parts.scheme != "sqlite" or parts.netloc or not parts.path.strip("/"):
        raise _no_url(url)
    from .stores.sqlite import SqliteStore

    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = sorted(options.keys() - OPTIONS)
    if unknown:
        raise StoreRefused(
            f"{url!r}: there is no option {unknown[0]!r};"
            f" there are {', '.join(sorted(OPTIONS))}"
        )
    synchronous = options.get("synchronous", "FULL").upper()
    if synchronous not in {"FULL", "NORMAL"}:
        raise StoreRefused(f"{url!r}: synchronous is FULL or NORMAL")
    peers = _flag(url, options, "peers", True)
    store = SqliteStore(
        Path(unquote(parts.path[1:])),
        clock,
        adopt=_flag(url, options, "adopt", False),
        network=_flag(url, options, "allow_network_fs", False),
        synchronous=synchronous,
    )
    return store, peers


def _no_url(url: object) -> StoreRefused:
    return StoreRefused(
        f"{url!r} is not the URL of a store; write sqlite:///orders.db,"
        " sqlite:////var/lib/orders.db or memory://"
    )


def _flag(url: str, options: dict[str, str], name: str, default: bool) -> bool:
    value = options.get(name)
    if value is None:
        return default
    if value not in {"true", "false"}:
        raise StoreRefused(f"{url!r}: {name} is true or false")
    return value == "true"
