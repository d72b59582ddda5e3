"""Optimizers that find their learning rate themselves."""
