"""What `burlab.analysis` finds, in a notebook."""
