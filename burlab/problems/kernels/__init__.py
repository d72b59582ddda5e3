"""The compiled side of a problem: kernels over samples, tiles and batches."""
