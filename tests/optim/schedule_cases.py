"""One row per schedule: what it is compared with, at every step."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from burlab.optim import constant, cosine, exponential, inverse_sqrt, linear, one_cycle, polynomial, step, warmup


@dataclass(frozen=True)
class Case:
    """A schedule, its largest value, and another library's twin: `torch(lr_scheduler, optimizer)` or `optax(optax)`.

    steps: how many are compared; torch's optimizer starts with lr = `base`.
    """

    schedule: Any
    peak: float
    torch: Callable[[Any, Any], Any] | None = None
    optax: Callable[[Any], Any] | None = None
    steps: int = 120
    base: float = 1.0

    def __str__(self) -> str:
        return repr(self.schedule).replace(" ", "")


def vaswani(t: int) -> float:
    """Attention is all you need, section 5.3, with 30 steps of warm-up to 0.2; their steps count from 1."""
    return 0.2 * min(max(t, 1e-9) ** -0.5, t * 30**-1.5) * 30**0.5


CASES = [
    Case(constant(0.3), 0.3, optax=lambda o: o.constant_schedule(0.3)),
    Case(constant(0.3), 0.3, torch=lambda s, opt: s.ConstantLR(opt, factor=1.0), base=0.3),
    Case(step(0.3, every=7), 0.3, torch=lambda s, opt: s.StepLR(opt, step_size=7), base=0.3),
    Case(step(2.0, 10, 0.5), 2.0, optax=lambda o: o.exponential_decay(2.0, 10, 0.5, staircase=True)),
    Case(linear(0.3, steps=50), 0.3, optax=lambda o: o.linear_schedule(0.3, 0.0, 50)),
    Case(
        linear(0.1, 50, end=0.4), 0.4,
        torch=lambda s, opt: s.LinearLR(opt, start_factor=0.25, end_factor=1.0, total_iters=50), base=0.4,
    ),
    Case(cosine(0.3, steps=80), 0.3, optax=lambda o: o.cosine_decay_schedule(0.3, 80)),
    Case(cosine(0.3, 80, end=0.03), 0.3, optax=lambda o: o.cosine_decay_schedule(0.3, 80, alpha=0.1)),
    Case(
        cosine(0.3, 119, end=0.01), 0.3,
        torch=lambda s, opt: s.CosineAnnealingLR(opt, T_max=119, eta_min=0.01), base=0.3,
    ),
    Case(warmup(20, then=0.3), 0.3, optax=lambda o: o.linear_schedule(0.0, 0.3, 20)),
    Case(
        warmup(20, then=cosine(0.3, 60, end=0.1), start=0.05), 0.3,
        optax=lambda o: o.warmup_cosine_decay_schedule(0.05, 0.3, 20, 80, end_value=0.1),
    ),
    Case(
        warmup(10, then=exponential(0.3, 0.9), start=0.03), 0.3, base=0.3,
        torch=lambda s, opt: s.SequentialLR(
            opt, [s.LinearLR(opt, start_factor=0.1, total_iters=10), s.ExponentialLR(opt, 0.9)], milestones=[10]
        ),
    ),
    Case(
        warmup(10, then=warmup(5, then=linear(0.1, 50), start=0.3)), 0.3,
        optax=lambda o: o.join_schedules(
            [o.linear_schedule(0.0, 0.3, 10), o.linear_schedule(0.3, 0.1, 5), o.linear_schedule(0.1, 0.0, 50)], [10, 15]
        ),
    ),
    Case(one_cycle(0.3, steps=120), 0.3, torch=lambda s, opt: s.OneCycleLR(opt, 0.3, total_steps=120)),
    Case(
        one_cycle(0.3, 110, rise=0.41, start_factor=3.0, end_factor=7.0), 0.3, steps=110,
        torch=lambda s, opt: s.OneCycleLR(
            opt, 0.3, total_steps=110, pct_start=0.41, div_factor=3.0, final_div_factor=7.0
        ),
    ),
    Case(exponential(0.3, factor=0.97), 0.3, torch=lambda s, opt: s.ExponentialLR(opt, 0.97), base=0.3),
    Case(exponential(0.3, 0.5, every=15), 0.3, optax=lambda o: o.exponential_decay(0.3, 15, 0.5)),
    Case(warmup(30, then=inverse_sqrt(0.2, steps=30)), 0.2, torch=lambda s, opt: s.LambdaLR(opt, vaswani)),
    Case(
        polynomial(0.3, steps=70, power=2.5), 0.3,
        torch=lambda s, opt: s.PolynomialLR(opt, total_iters=70, power=2.5), base=0.3,
    ),
    Case(polynomial(0.3, 70, 0.5, end=0.1), 0.3, optax=lambda o: o.polynomial_schedule(0.3, 0.1, 0.5, 70)),
]  # fmt: skip
