"""Many runs of one problem: a grid over optimizers, hyperparameters and seeds, or a list; here or on a cluster."""
