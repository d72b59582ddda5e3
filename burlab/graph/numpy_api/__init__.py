"""NumPy's functions, ufuncs and methods as nodes of a graph."""
