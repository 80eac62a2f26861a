"""Specs below `tests/` are material of the tests beside them, not items of their own."""

collect_ignore_glob = ["*.deed"]
