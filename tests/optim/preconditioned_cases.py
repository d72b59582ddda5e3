"""Rules with a stochastic curvature, a preconditioner of matrices or less memory than Adam's: one of each."""

from burlab.optim import (
    APOLLO,
    FRUGAL,
    MFAC,
    SOAP,
    Adafactor,
    AdaHessian,
    GaLore,
    Muon,
    NaturalGaLore,
    Shampoo,
    SophiaG,
    SophiaH,
)

PRECONDITIONED = {
    "APOLLO": APOLLO(rank=2, every=6),
    "AdaHessian": AdaHessian(0.01),
    "Adafactor": Adafactor(0.05),
    "FRUGAL": FRUGAL(0.01, density=0.4, every=6),
    "GaLore": GaLore(0.05, rank=2, every=6),
    "MFAC": MFAC(0.05, damping=0.1, memory=5),
    "Muon": Muon(0.02),
    "NaturalGaLore": NaturalGaLore(0.05, rank=2, every=6, history=3),
    "SOAP": SOAP(0.02, every=6),
    "Shampoo": Shampoo(0.1, every=6),
    "SophiaG": SophiaG(0.01, every=6),
    "SophiaH": SophiaH(0.01, every=6),
}
