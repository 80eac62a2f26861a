"""A run that breaks something, outside of the report: as a kept test, a diagram, or data.

Pure but for the command: what is known of a run goes in, text comes out.
"""
