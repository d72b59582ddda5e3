"""Compiled code kept between sessions: who fills the shelf (`runtime/shelf.py`), and with what."""
