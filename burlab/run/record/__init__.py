"""What a run remembers: its tables, read while C++ writes them."""
