"""Errors of a call, with the operation of the user's code that caused them."""
