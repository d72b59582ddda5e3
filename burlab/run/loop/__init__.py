"""The step loop in C++: how it is set up, steered, and taken apart."""
