"""Transforms that give every value of a graph another kind of number."""
