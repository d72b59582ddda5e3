"""Arrays that take traced entries: item assignment and in-place operators inside of a traced function."""

from . import flat as flat, results as results, writing as writing  # they fill the tables of what writes
