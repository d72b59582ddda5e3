"""Linear algebra on nodes: a few operations with kernels and derivative rules, and NumPy's functions made of them.

Matrices are the last two axes; the axes before them count matrices. A factorization is one node with its parts side by
side. Users get slices of it that stand for functions of the matrix (`graph/implied.py`). A derivative rule may read all
parts and is made of differentiable nodes itself, so derivatives have every order.
"""
