"""A session is a program of its own, which asks for arguments: `--doctest-modules` must not import it."""

collect_ignore = ["session.py"]
