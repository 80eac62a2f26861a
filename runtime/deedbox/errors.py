"""Everything the interpreter raises: one root, and for each error what to do.

A sender hears `SendError`s; opening a store raises `StoreRefused`; the rest tells
of a store that failed or a process that was stopped.  The text of an error is its
docstring, followed by the particulars.
"""

from __future__ import annotations

import traceback


class DeedboxError(Exception):
    """Something in deedbox went wrong."""

    def __str__(self) -> str:
        particulars = super().__str__()
        said = (type(self).__doc__ or "").split("\n", 1)[0]
        return f"{said} {particulars}".rstrip()


class SendError(DeedboxError):
    """The message was not applied, and nothing of the instance has changed."""


class Rejected(SendError):
    """The spec rejects this message in the phase that the instance is in."""


class UnknownInstance(SendError):
    """There is no such instance: it was never started, or was removed after its end.  Start it first."""


class UnknownMachine(SendError):
    """This machine, or this type of message, is not among those given to `open`; give it too."""


class WrongType(SendError):
    """A value does not fit its declared type."""


class DocumentTooLarge(SendError):
    """A stored document may have at most 1 MiB; keep what is large elsewhere, and its place here."""


class InstanceParked(SendError):
    """The stored row cannot be used and was set aside, as it is; mend what it says, then redrive it."""


class NewerVersion(SendError):
    """The stored row was written by a newer version of this machine; send where that one runs."""


class UnknownVersion(SendError):
    """This version of the machine has no word for what an older one stored."""


class MessageIdReused(SendError):
    """This message_id was already used for a message with other content; each needs its own."""


class ReducerFailed(SendError):
    """The reducer raised on this message, which is a bug; the instance is as it was."""


class StoreError(DeedboxError):
    """The store could not do what it was asked."""


class StoreRefused(StoreError):
    """This store cannot be opened; it was left untouched."""


class StoreFailed(StoreError):
    """The transaction failed and was rolled back; the store is as it was before."""


class Unsettled(StoreError):
    """Whether the message was applied is not known: the store did not say, and cannot be asked."""


class StoreClosed(StoreError):
    """The box, or the worker that was asked, is closed or being closed."""


class MissingHandlers(DeedboxError):
    """A worker needs one method for each command of the machines that it serves."""


class MissingMachines(DeedboxError):
    """A worker delivers what machines tell each other, so all that are told must be opened."""


class MisplacedCall(DeedboxError):
    """This call cannot be made from here."""


def printable(said: str) -> str:
    """A text that any store keeps, whatever somebody's exception says."""
    kept = said.encode(errors="backslashreplace").decode()
    return kept.replace("\0", "\\0")


def failure(problem: BaseException) -> str:
    """A traceback as it is stored: its end, which says most."""
    return printable("".join(traceback.format_exception(problem))[-4000:])
