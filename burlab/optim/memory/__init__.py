"""Optimizers that keep less than Adam does."""
