"""Elementwise functions of burlab's own formulas, by NumPy's and SciPy's names: each is an operation of the C++ table.

They take what operators take and return a node: `exp(-x) * where(x > 0.0, x, 1.0)`. What users call, `np.exp(x)`,
becomes the same operation by way of `ufuncs.py`, which knows more of NumPy's rules. `power` is always that operation;
`x ** y` makes products and roots of small known exponents.
"""

from functools import partial

from .promotion import apply

where = partial(apply, "where")
maximum = partial(apply, "maximum")
minimum = partial(apply, "minimum")
power = partial(apply, "power")
square = partial(apply, "square")
cube = partial(apply, "cube")
sqrt = partial(apply, "sqrt")
exp = partial(apply, "exp")
expm1 = partial(apply, "expm1")
log = partial(apply, "log")
log1p = partial(apply, "log1p")
sin = partial(apply, "sin")
cos = partial(apply, "cos")
tan = partial(apply, "tan")
arctan2 = partial(apply, "arctan2")
sinh = partial(apply, "sinh")
cosh = partial(apply, "cosh")
tanh = partial(apply, "tanh")
arctanh = partial(apply, "arctanh")
sign = partial(apply, "sign")
copysign = partial(apply, "copysign")
nextafter = partial(apply, "nextafter")
floor = partial(apply, "floor")
trunc = partial(apply, "trunc")
rint = partial(apply, "rint")
remainder = partial(apply, "remainder")
mantissa = partial(apply, "mantissa")
exponent = partial(apply, "exponent")
ldexp = partial(apply, "ldexp")
isnan = partial(apply, "isnan")
isfinite = partial(apply, "isfinite")
sinc = partial(apply, "sinc")
softplus = partial(apply, "softplus")
erfc = partial(apply, "erfc")
gamma = partial(apply, "gamma")
gammaln = partial(apply, "gammaln")
digamma = partial(apply, "digamma")
polygamma = partial(apply, "polygamma")
xlogy = partial(apply, "xlogy")
rel_entr = partial(apply, "rel_entr")
power_exp = partial(apply, "power_exp")
