"""The tables of one instance, written for other checkers to explore.

A table names every local state by a number and every step from it by its successor.
Spin and rumur know nothing of deedbox: where they count as many distinct states as the explorer does, the explorer has neither lost states nor made any up.
The texts are pure functions of the table.
"""
