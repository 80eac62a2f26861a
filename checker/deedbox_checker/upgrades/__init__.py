"""Instances of older versions, taken over by processes of a newer one."""
