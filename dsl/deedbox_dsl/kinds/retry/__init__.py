"""What `retry` means: one command, asked for until it is done."""

from .machine import lower_retry

__all__ = ["lower_retry"]
