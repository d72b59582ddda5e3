"""SciPy's functions on nodes. SciPy itself is not imported: the caller of its functions has done so."""
