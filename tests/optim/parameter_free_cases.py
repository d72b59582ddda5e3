"""Rows of the table of optimizers that find their learning rate themselves."""

from typing import Any

import pytest

from burlab.optim import COCOB, DAdaptAdam, DAdaptSGD, DoG, DoWG, MoMo, MoMoAdam, Prodigy
from tests.optim.cases import Case


def authors(module: str, name: str, **options: Any) -> Any:
    """The optimizer of the method's authors, for PyTorch; the test is skipped where their package is missing."""

    def make(_optim: Any) -> Any:
        found = pytest.importorskip(module, reason=f"{module}, the authors' code, is not installed: make peers")
        return lambda xs: getattr(found, name)(xs, **options)

    return make


# The authors keep d in float64 where x is float32, so only paths in float64 are the same.
PARAMETER_FREE = [
    Case(DoG(), optax=lambda o: o.contrib.dog()),
    Case(DoG(0.5, eps=0.3, first=1e-3), optax=lambda o: o.contrib.dog(0.5, ("heuristic", 1e-3), 0.3)),
    Case(DoWG(0.1, eps=0.1, first=1e-2), optax=lambda o: o.contrib.dowg(0.1, 1e-2, 0.1)),
    Case(DAdaptSGD(0.1), torch=authors("dadaptation", "DAdaptSGD", lr=0.1), single=False),
    Case(
        DAdaptSGD(0.3, mu=0.7, growth=1.05, first=1e-3),
        torch=authors("dadaptation", "DAdaptSGD", lr=0.3, momentum=0.7, growth_rate=1.05, d0=1e-3),
        single=False,
    ),
    Case(DAdaptAdam(0.1), torch=authors("dadaptation", "DAdaptAdam", lr=0.1), single=False),
    Case(
        DAdaptAdam(0.3, b1=0.8, b2=0.95, eps=0.01, weight_decay=0.1, growth=1.05, first=1e-3, bias_correction=True),
        torch=authors(
            "dadaptation", "DAdaptAdam", lr=0.3, betas=(0.8, 0.95), eps=0.01, weight_decay=0.1, decouple=True,
            growth_rate=1.05, d0=1e-3, use_bias_correction=True,
        ),
        single=False,
    ),
    Case(
        DAdaptAdam(0.5, weight_decay=0.05, bias_correction=True),
        optax=lambda o: o.contrib.dadapt_adamw(0.5, weight_decay=0.05),
    ),
    Case(Prodigy(0.1), torch=authors("prodigyopt", "Prodigy", lr=0.1), single=False),
    Case(
        Prodigy(0.05, b1=0.8, b2=0.95, eps=0.1, weight_decay=0.1, growth=1.02, first=0.05, bias_correction=True),
        torch=authors(
            "prodigyopt", "Prodigy", lr=0.05, betas=(0.8, 0.95), eps=0.1, weight_decay=0.1, growth_rate=1.02, d0=0.05,
            use_bias_correction=True,
        ),
        single=False,
    ),
    Case(
        Prodigy(0.1, weight_decay=0.05, first=0.1, bias_correction=True),
        optax=lambda o: o.contrib.prodigy(0.1, weight_decay=0.05, estim_lr0=0.1),
        single=False,
    ),
    Case(MoMo(1e-2), optax=lambda o: o.contrib.momo(1e-2)),
    Case(
        MoMo(5e-3, mu=0.5, f_min=-1.0, weight_decay=0.2),
        optax=lambda o: o.contrib.momo(5e-3, 0.5, -1.0, 0.2),
    ),
    Case(MoMoAdam(0.02), optax=lambda o: o.contrib.momo_adam(0.02)),
    Case(
        MoMoAdam(0.01, b1=0.8, b2=0.9, eps=0.1, f_min=-1.0, weight_decay=0.2),
        optax=lambda o: o.contrib.momo_adam(0.01, 0.8, 0.9, 0.1, -1.0, 0.2),
    ),
    Case(COCOB(), optax=lambda o: o.contrib.cocob()),
    Case(COCOB(30.0, eps=0.5), optax=lambda o: o.contrib.cocob(alpha=30.0, eps=0.5)),
]  # fmt: skip
