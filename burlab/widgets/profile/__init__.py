"""Profiles in a notebook: a chart of the bytes that live when, and a table."""
