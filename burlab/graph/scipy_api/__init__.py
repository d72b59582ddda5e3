"""SciPy's functions on nodes. SciPy itself is not imported: whoever calls its functions has done so."""
