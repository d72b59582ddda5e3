"""The record of a run: its tables, read while C++ writes them."""
