"""The costs of a kernel: the time and the bytes of its steps."""
