"""One row per first-order optimizer: what it is compared with, step for step, in several settings."""

from burlab.optim import (
    ASGD,
    GD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    AMSGrad,
    Lion,
    Momentum,
    NAdam,
    Nesterov,
    RAdam,
    RMSProp,
    Rprop,
    SignSGD,
)
from tests.optim.cases import Case, by_torch
from tests.optim.estimator_cases import ESTIMATORS
from tests.optim.federated_cases import FEDERATED
from tests.optim.parameter_free_cases import PARAMETER_FREE
from tests.optim.preconditioned_cases import PRECONDITIONED

CASES = [
    Case(GD(2e-3), torch=by_torch("SGD", lr=2e-3)),
    Case(GD(5e-4), optax=lambda o: o.sgd(5e-4)),
    Case(Momentum(1e-3, mu=0.8), torch=by_torch("SGD", lr=1e-3, momentum=0.8)),
    Case(Momentum(2e-3, mu=0.7, dampening=0.3), torch=by_torch("SGD", lr=2e-3, momentum=0.7, dampening=0.3)),
    Case(Nesterov(1e-3, mu=0.85), torch=by_torch("SGD", lr=1e-3, momentum=0.85, nesterov=True)),
    Case(Adagrad(0.05), torch=by_torch("Adagrad", lr=0.05)),
    Case(
        Adagrad(0.2, eps=1e-3, lr_decay=0.02, initial_accumulator_value=0.3),
        torch=by_torch("Adagrad", lr=0.2, eps=1e-3, lr_decay=0.02, initial_accumulator_value=0.3),
    ),
    Case(RMSProp(1e-3), torch=by_torch("RMSprop", lr=1e-3)),
    Case(
        RMSProp(7e-4, alpha=0.8, eps=0.1, mu=0.6),
        torch=by_torch("RMSprop", lr=7e-4, alpha=0.8, eps=0.1, momentum=0.6),
    ),
    Case(  # in float32 both libraries stray by 8e-6 from the path in float64; with a larger eps they do not
        RMSProp(8e-4, alpha=0.95, centered=True),
        torch=by_torch("RMSprop", lr=8e-4, alpha=0.95, centered=True),
        single=False,
    ),
    Case(
        RMSProp(8e-4, alpha=0.95, eps=0.05, centered=True),
        torch=by_torch("RMSprop", lr=8e-4, alpha=0.95, eps=0.05, centered=True),
    ),
    Case(
        RMSProp(6e-4, alpha=0.97, eps=0.3, mu=0.5, centered=True),
        torch=by_torch("RMSprop", lr=6e-4, alpha=0.97, eps=0.3, momentum=0.5, centered=True),
    ),
    Case(Adadelta(), torch=by_torch("Adadelta")),
    Case(Adadelta(0.2, rho=0.95, eps=1e-4), torch=by_torch("Adadelta", lr=0.2, rho=0.95, eps=1e-4)),
    Case(Adam(0.01, b1=0.8, b2=0.99), torch=by_torch("Adam", lr=0.01, betas=(0.8, 0.99))),
    Case(Adam(3e-3, b1=0.0, b2=0.9, eps=0.1), torch=by_torch("Adam", lr=3e-3, betas=(0.0, 0.9), eps=0.1)),
    Case(Adam(0.02), optax=lambda o: o.adam(0.02)),
    Case(AMSGrad(0.02, b1=0.7, b2=0.8), torch=by_torch("Adam", lr=0.02, betas=(0.7, 0.8), amsgrad=True)),
    Case(AMSGrad(0.01, eps=0.01), torch=by_torch("Adam", lr=0.01, eps=0.01, amsgrad=True)),
    Case(AdamW(0.01), torch=by_torch("AdamW", lr=0.01)),
    Case(
        AdamW(5e-3, b1=0.8, b2=0.98, eps=0.01, weight_decay=0.3),
        torch=by_torch("AdamW", lr=5e-3, betas=(0.8, 0.98), eps=0.01, weight_decay=0.3),
    ),
    Case(AdamW(0.02, weight_decay=0.1), optax=lambda o: o.adamw(0.02, weight_decay=0.1)),
    Case(NAdam(0.01), torch=by_torch("NAdam", lr=0.01)),
    Case(
        NAdam(4e-3, b1=0.8, b2=0.95, eps=0.01, momentum_decay=0.05),
        torch=by_torch("NAdam", lr=4e-3, betas=(0.8, 0.95), eps=0.01, momentum_decay=0.05),
    ),
    Case(RAdam(0.01), torch=by_torch("RAdam", lr=0.01)),
    Case(RAdam(2e-3, b1=0.8, b2=0.9, eps=0.1), torch=by_torch("RAdam", lr=2e-3, betas=(0.8, 0.9), eps=0.1)),
    Case(RAdam(0.003, b1=0.8, b2=0.5), torch=by_torch("RAdam", lr=0.003, betas=(0.8, 0.5))),  # never trusts v
    Case(Adamax(0.01), torch=by_torch("Adamax", lr=0.01)),
    Case(Adamax(4e-3, b1=0.7, b2=0.9, eps=0.1), torch=by_torch("Adamax", lr=4e-3, betas=(0.7, 0.9), eps=0.1)),
    Case(Lion(2e-3), optax=lambda o: o.lion(2e-3)),
    Case(Lion(1e-3, b1=0.7, b2=0.9, weight_decay=0.2), optax=lambda o: o.lion(1e-3, b1=0.7, b2=0.9, weight_decay=0.2)),
    Case(SignSGD(2.3e-3), optax=lambda o: o.sign_sgd(2.3e-3)),
    Case(Rprop(1e-3), torch=by_torch("Rprop", lr=1e-3)),
    Case(
        Rprop(3e-3, eta_minus=0.3, eta_plus=1.1, step_min=1e-3, step_max=8e-3),
        torch=by_torch("Rprop", lr=3e-3, etas=(0.3, 1.1), step_sizes=(1e-3, 8e-3)),
    ),
    Case(ASGD(2e-3), torch=by_torch("ASGD", lr=2e-3)),
    Case(ASGD(2e-3, lambd=0.5, alpha=0.6, t0=50), torch=by_torch("ASGD", lr=2e-3, lambd=0.5, alpha=0.6, t0=50)),
    *PARAMETER_FREE,
]  # fmt: skip

# The settings are those of calm paths: one that overshoots to and fro, as Adam's without momentum, multiplies the last
# bit of a gradient a million times in 200 steps, and no two libraries agree on that bit.

# Optimizers that ask for more than a gradient have tests of their own.
ELSEWHERE = (
    dict.fromkeys(PRECONDITIONED, "preconditioned_cases.py")
    | dict.fromkeys(ESTIMATORS, "estimator_cases.py")
    | dict.fromkeys(FEDERATED, "federated_cases.py")
    | {"CoordinateDescent": "test_coordinate.py", "AdAdaGrad": "test_adadagrad.py"}
    | {"alternating": "test_alternating.py", "EM": "test_expectation_maximization.py"}
    | {"LevenbergMarquardt": "test_levenberg_marquardt.py", "GaussNewton": "test_least_squares.py"}
    | dict.fromkeys(("ScheduleFreeAdamW", "ScheduleFreeSGD"), "test_schedule_free.py")
    | dict.fromkeys(
        (
            "ArmijoGD", "BarzilaiBorwein", "LBFGS", "ModifiedNewton", "Newton", "NewtonCG", "NonlinearCG",
            "TrustRegion", "WolfeGD",
        ),
        "curvature_cases.py",
    )
)  # fmt: skip
