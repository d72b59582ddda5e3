"""Checks of arguments where users pass them: numbers in range, functions that take the right arguments."""
