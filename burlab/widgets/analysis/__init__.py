"""Results of `burlab.analysis` in a notebook."""
