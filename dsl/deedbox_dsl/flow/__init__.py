"""What a typed machine does as a whole: is every event decided, is every command
awaited, is every state reached, does a deadline wake anyone.
"""

from .order import flow

__all__ = ["flow"]
