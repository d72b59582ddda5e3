"""Data to learn from."""

from .names import CharacterData, last_names

__all__ = ["CharacterData", "last_names"]
