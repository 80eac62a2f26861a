"""What `saga` means: steps forward, their undos back, and `Cancel` at any time."""

from .machine import lower_saga

__all__ = ["lower_saga"]
