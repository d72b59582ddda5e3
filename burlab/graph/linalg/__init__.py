"""Linear algebra on nodes: few operations with kernels and derivative rules, and NumPy's functions made of them.

Matrices are the last two axes, all axes before them count matrices. A factorization is one node, its parts side by
side; what users see of it are slices that stand for functions of the matrix (`graph/implied.py`), so that a rule may
use all parts and is itself made of differentiable nodes: derivatives have every order.
"""
