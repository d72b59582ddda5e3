"""What a kernel costs: the time and the bytes of its steps."""
