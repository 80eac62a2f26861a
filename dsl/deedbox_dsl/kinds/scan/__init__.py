"""What `scan` means: every record of a list, page by page, again and again."""

from .machine import lower_scan

__all__ = ["lower_scan"]
