"""SciPy's minimizers as runs."""
