"""From a plan to C++: the compiled gear, and standalone programs."""
