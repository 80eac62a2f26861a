"""One version of a machine beside another: recorded shapes, migrations, differences."""

from .migrate import migrate

__all__ = ["migrate"]
