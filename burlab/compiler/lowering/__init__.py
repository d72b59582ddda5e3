"""From one node to the library kernels that compute it."""
