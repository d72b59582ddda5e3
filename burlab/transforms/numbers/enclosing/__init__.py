"""Enclosures of special functions, linear algebra, Fourier transforms and order, and the table of all of them."""
