"""Arrays that take traced entries: item assignment and in-place operators inside of a traced function."""

from . import results as results, writing as writing  # they fill the tables of what writes
