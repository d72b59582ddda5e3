"""What SciPy's functions mean on nodes. SciPy itself is not imported: who calls its functions has done so."""
