"""Arrays that take traced entries: item assignment and in-place operators inside of a traced function."""

from . import writing as writing  # it fills the table of functions that write
