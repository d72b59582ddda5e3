"""Problems for optimizers that ask for more than a gradient, as functions of a flat vector, and the optimizers."""

import numpy as np

from burlab.optim.barzilai_borwein import BarzilaiBorwein
from burlab.optim.conjugate_gradient import NonlinearCG
from burlab.optim.descent import ArmijoGD, WolfeGD
from burlab.optim.lbfgs import LBFGS
from burlab.optim.newton import ModifiedNewton, Newton
from burlab.optim.newton_cg import NewtonCG
from burlab.optim.trust_region import TrustRegion


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def beale(x):
    a, b = x[0], x[1]
    return (1.5 - a + a * b) ** 2 + (2.25 - a + a * b**2) ** 2 + (2.625 - a + a * b**3) ** 2


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def wood(x):
    left = 100 * (x[0] ** 2 - x[1]) ** 2 + (x[0] - 1) ** 2 + (x[2] - 1) ** 2 + 90 * (x[2] ** 2 - x[3]) ** 2
    return left + 10.1 * ((x[1] - 1) ** 2 + (x[3] - 1) ** 2) + 19.8 * (x[1] - 1) * (x[3] - 1)


def quadratic(d=20, condition=1e4, seed=0):
    """x.A x / 2 - b.x with a spectrum from 1 to the condition."""
    rng = np.random.default_rng(seed)
    q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    a, b = q * np.geomspace(1, condition, d) @ q.T, rng.normal(size=d)
    return lambda x: 0.5 * x @ (a @ x) - b @ x


def logistic(x):
    return np.mean(np.logaddexp(0, -LABELS * (INPUTS @ x))) + 0.005 * x @ x


_rng = np.random.default_rng(1)
INPUTS = _rng.normal(size=(100, 6))
LABELS = np.sign(INPUTS @ _rng.normal(size=6) + _rng.normal(size=100))

PROBLEMS = {
    "rosenbrock 2": (rosenbrock, np.array([-1.2, 1.0])),
    "rosenbrock 10": (rosenbrock, np.linspace(0.3, 0.9, 10)),
    "quadratic": (quadratic(), np.zeros(20)),
    "logistic": (logistic, np.zeros(6)),
    "beale": (beale, np.array([1.0, 0.7])),
    "himmelblau": (himmelblau, np.array([2.0, 2.5])),
}
OPTIMIZERS = {
    "ArmijoGD": ArmijoGD(),
    "ArmijoGD warm": ArmijoGD(warm=True),
    "WolfeGD": WolfeGD(),
    "BarzilaiBorwein": BarzilaiBorwein(),
    "BarzilaiBorwein short": BarzilaiBorwein(form="short"),
    "BarzilaiBorwein alternate": BarzilaiBorwein(form="alternate"),
    "NonlinearCG": NonlinearCG(),
    "NonlinearCG FR": NonlinearCG(form="FR"),
    "NonlinearCG HS": NonlinearCG(form="HS"),
    "NonlinearCG DY": NonlinearCG(form="DY"),
    "LBFGS": LBFGS(),
    "Newton": Newton(),
    "ModifiedNewton": ModifiedNewton(),
    "NewtonCG": NewtonCG(),
    "TrustRegion": TrustRegion(),
}
