"""Complex numbers: two real nodes in one object, and NumPy's functions on such objects."""
