"""Who waits for an instance to be in a phase: they are told when a commit has shown it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .batch import Live, Watch
from .operations import Name


class Watches:
    """Those who wait, by the instance they wait for."""

    def __init__(self) -> None:
        self._waiting: dict[Name, list[Watch]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self) -> list[Watch]:
        """All of them, to be looked at in a transaction, which brings back who waits on."""
        waiting, self._waiting = self._waiting, {}
        return [watch for each in waiting.values() for watch in each]

    def drop(self, watch: Watch) -> None:
        """Nobody waits by it any more."""
        name = watch.codec.name, watch.id
        waiting = self._waiting.pop(name, [])
        left = [each for each in waiting if each is not watch]
        if left:
            self._waiting[name] = left

    def show(self, live: Mapping[Name, Live], watches: Iterable[Watch]) -> None:
        """Tell those who wait for what these instances are now; the others wait on."""
        for watch in watches:
            self._waiting.setdefault((watch.codec.name, watch.id), []).append(watch)
        if not self._waiting:
            return
        for name, one in live.items():
            waiting = self._waiting.get(name)
            if waiting is None or one.state is None:
                continue
            self._waiting[name] = [
                watch for watch in waiting if one.phase not in watch.phases
            ]
            if not self._waiting[name]:
                del self._waiting[name]
            for watch in waiting:
                if one.phase in watch.phases:
                    watch.reply(one.state)
