"""The vocabulary of plans: views of arrays, library kernels and their descriptors, steps, spellings in C++."""
